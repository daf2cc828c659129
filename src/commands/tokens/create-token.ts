import type { TokenRequest } from '../../domain/token/draft-token.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { TokenAnswer } from '../../queries/token-answer.js';
import type { CommandContext } from '../../vault/command-context.js';
import { type CommandResult, done, invalidFields, rejected } from '../../vault/result.js';
import { indexKeysOf, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type Attempt, changeToken } from '../change-token.js';
import { randomForCommand } from '../derived-random.js';
import { originOf } from '../event-origin.js';
import { chooseId, mayChooseAgain } from './choose-id.js';
import { createdAnswer } from './created-answer.js';
import { type Creation, type CreationPlace, decideCreation, prepareCreation } from './creation.js';
import { chargeDeduplication, refuseDeduplication } from './deduplication.js';
import { duplicateAnswer } from './duplicate-answer.js';
import { findDuplicate } from './find-duplicate.js';
import { idempotently } from './idempotently.js';
import { renderAgain } from './render-again.js';

type TokenResult = CommandResult<TokenAnswer>;

/**
 * Creates a token (docs/contract.md, "Create a token"; docs/contract.md, "HTTP conventions"). With `misses` `exempt`, as for an
 * import, a deduplication that finds nothing is not charged.
 */
export async function createToken(
  vault: Vault,
  context: CommandContext,
  request: TokenRequest,
  misses: 'charged' | 'exempt' = 'charged',
): Promise<TokenResult> {
  const tenantKeys = await tenantKeysOf(vault, context.caller.tenantId);
  const run = async (cmd: string | null): Promise<TokenResult> => {
    const creation = await prepareCreation(vault, context, tenantKeys, request);
    if (!creation.ok) return creation;
    const values = creation.value.distinct && misses === 'charged' ? 1 : 0;
    const charged = await chargeDeduplication(vault, context.caller, values);
    if (!charged.ok) return charged;
    const result = await createUnderSomeId(vault, { context, tenantKeys, cmd }, creation.value);
    if (result.ok && result.value.recordedAs !== 'create') charged.hits(values);
    return result;
  };
  return idempotently(vault, tenantKeys, context, run, ({ tokens }) =>
    renderAgain(vault, context, 'create', tokens[0]),
  );
}

type Command = {
  readonly context: CommandContext;
  readonly tenantKeys: TenantKeys;
  readonly cmd: string | null;
};

async function createUnderSomeId(vault: Vault, command: Command, creation: Creation): Promise<TokenResult> {
  const random = randomForCommand(vault.random, command.tenantKeys.claims, command.cmd);
  const work = vault.turns.begin(command.context.caller.tenantId);
  for (let taken = 0; ; taken += 1) {
    const id = await work.run(chooseId(vault, creation, random, taken));
    if (!id.ok) return invalidFields(id.errors);
    const result = await createUnder(vault, command, creation, id.value);
    if (result.ok || result.code !== 'id_in_use' || !mayChooseAgain(creation, taken + 1)) return result;
  }
}

function createUnder(vault: Vault, command: Command, creation: Creation, id: string): Promise<TokenResult> {
  const { context, cmd, tenantKeys } = command;
  const { tenantId, applicationId: createdBy } = context.caller;
  const stream = tokenStream(tenantKeys.names, id);
  const origin = originOf(context, cmd);
  // A random UUID is not in use yet, unless it was derived from an idempotency key.
  const isNew = creation.id === null && cmd === null;
  return changeToken(vault, { tenantId, tenantKeys, stream, isNew }, origin, (view, at) =>
    attemptCreate(vault, command, creation, { id, view, at, createdBy }),
  );
}

async function attemptCreate(
  vault: Vault,
  command: Command,
  creation: Creation,
  place: CreationPlace,
): Promise<Attempt<TokenResult>> {
  const { fingerprintHash, distinct, cvc, transform } = creation;
  const other = distinct ? await findDuplicate(vault, place.view.tenantId, fingerprintHash, null) : null;
  const met = other === null ? [] : [other];
  const refusal = distinct ? await refuseDeduplication(vault, command.context.caller, met) : null;
  if (refusal !== null) return { do: 'answer', answer: refusal };
  if (other !== null) {
    const cvcIgnored = cvc !== null;
    const { createdRevision, contentRevision: carriedContent } = other.life;
    const asked = { operation: 'create', cvcIgnored, carriesFingerprint: true } as const;
    return {
      do: 'store',
      decisions: [],
      payload: { content: null, cvc: null },
      index: 'keep',
      distinctFingerprint: null,
      claims: {
        tokens: [{ stream: other.view.stream, createdRevision, carriedContent, deduplicated: true, cvcIgnored }],
      },
      answer: () => done(duplicateAnswer(command.context, other, asked)),
    };
  }
  const keys = await indexKeysOf(vault, place.view.tenantId);
  const write = decideCreation(vault, keys, creation, place);
  if (write === null) return { do: 'answer', answer: rejected('id_in_use') };
  return {
    ...write,
    do: 'store',
    carriesFingerprint: true,
    answer: (created) => done(createdAnswer(command.context.caller, write.payload, created, transform)),
  };
}
