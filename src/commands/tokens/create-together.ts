import { tokenStream } from '../../events/tokens/stream-name.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { TokenAnswer } from '../../queries/token-answer.js';
import type { CommandContext } from '../../vault/command-context.js';
import { invalidFields, type Rejected } from '../../vault/result.js';
import { indexKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { changeTokens } from '../change-tokens.js';
import { randomForCommand } from '../derived-random.js';
import { originOf } from '../event-origin.js';
import { chooseId, mayChooseAgain } from './choose-id.js';
import type { Creation } from './creation.js';
import { answerOf, type Candidate, claimedBy, decideTogether } from './joint-creation.js';

type Command = {
  readonly context: CommandContext;
  readonly tenantKeys: TenantKeys;
  readonly cmd: string | null;
};

type Created = { readonly ok: true; readonly answers: readonly TokenAnswer[] };
type Taken = { readonly ok: false; readonly taken: readonly number[] };
type Refused = { readonly ok: false; readonly refusal: Rejected };
/** `index` is that of the creation that failed; null: none is possible now. */
type Failed = { readonly ok: false; readonly index: number | null; readonly rejected: Rejected };

/** Creates all tokens in one unit of work, or none. If an id is in use, it chooses another where that is allowed. */
export async function createTogether(
  vault: Vault,
  command: Command,
  creations: readonly Creation[],
): Promise<Created | Failed> {
  const random = randomForCommand(vault.random, command.tenantKeys.claims, command.cmd);
  const work = vault.turns.begin(command.context.caller.tenantId);
  const takenTimes = new Map<number, number>();
  const candidates: Candidate[] = [];
  let stillToName = creations.map((creation, index) => ({ creation, index }));
  for (;;) {
    for (const { creation, index } of stillToName) {
      const id = await work.run(chooseId(vault, creation, random, takenTimes.get(index) ?? 0));
      if (!id.ok) return { ok: false, index, rejected: invalidFields(id.errors) };
      candidates[index] = { creation, id: id.value, stream: tokenStream(command.tenantKeys.names, id.value) };
    }
    const tried = await tryTogether(vault, command, candidates);
    if (tried.ok) return tried;
    if ('refusal' in tried) return { ok: false, index: null, rejected: tried.refusal };
    for (const index of tried.taken) takenTimes.set(index, (takenTimes.get(index) ?? 0) + 1);
    stillToName = creations
      .map((creation, index) => ({ creation, index }))
      .filter(({ index }) => tried.taken.includes(index));
    const failed = stillToName.find(({ creation, index }) => !mayChooseAgain(creation, takenTimes.get(index) ?? 0));
    if (failed !== undefined) return { ok: false, index: failed.index, rejected: idInUse };
  }
}

const idInUse: Rejected = { ok: false, code: 'id_in_use', errors: { id: ['is in use'] } };

function tryTogether(
  vault: Vault,
  { context, tenantKeys, cmd }: Command,
  candidates: readonly Candidate[],
): Promise<Created | Taken | Refused> {
  const { tenantId } = context.caller;
  const streams = new Set(candidates.map(({ stream }) => stream));
  const origin = originOf(context, cmd);
  return changeTokens<Created | Taken | Refused>(
    vault,
    { tenantId, tenantKeys, streams },
    origin,
    async (viewOf, at) => {
      const keys = await indexKeysOf(vault, tenantId);
      const decided = await decideTogether(vault, context.caller, keys, candidates, viewOf, at);
      if (!decided.ok) return { do: 'answer', answer: decided };
      const { outcomes } = decided;
      return {
        do: 'store',
        writes: outcomes.flatMap((outcome) => (outcome.is === 'new' ? [outcome.write] : [])),
        claim: (after) => ({ tokens: outcomes.map((outcome) => claimedBy(outcome, after)) }),
        answer: (after) => ({ ok: true, answers: outcomes.map((outcome) => answerOf(context, outcome, after)) }),
      };
    },
  );
}
