import { transformForCreate } from '../../domain/access/decide-access.js';
import type { Transform } from '../../domain/access/transform.js';
import { type Checked, type FieldErrors, valid } from '../../domain/field-errors.js';
import { Secret } from '../../domain/secret.js';
import type { TokenContent } from '../../domain/token/content.js';
import { decide } from '../../domain/token/decide.js';
import { deriveFrom } from '../../domain/token/derive-content.js';
import { draftToken, type TokenDraft, type TokenRequest } from '../../domain/token/draft-token.js';
import { evaluateId } from '../../domain/token/fields/evaluate-id.js';
import { checkOwnValue } from '../../domain/token/fields/own-value.js';
import { fingerprintOf } from '../../events/tokens/fingerprint.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { Random } from '../../ports/random.js';
import type { TokenView } from '../../projections/token-view.js';
import { type Attempt, changeToken } from '../change-token.js';
import type { CommandContext } from '../command-context.js';
import { randomForCommand } from '../derived-random.js';
import { deduplicationInForce } from '../directory/tenant-settings.js';
import { originOf } from '../event-origin.js';
import { countDeduplication, refuseDeduplication } from '../limits/deduplication-guess.js';
import { type CommandResult, done, invalidFields, type Rejected, rejected } from '../result.js';
import { searchKeyOf, tenantKeysOf } from '../tenant-keys.js';
import type { Vault } from '../vault.js';
import { duplicateAnswer } from './duplicate-answer.js';
import { findDuplicate } from './find-duplicate.js';
import { idempotently } from './idempotently.js';
import { rowIndexOf } from './row-index.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/** A random alias that is taken is drawn again this often; then the id is a random UUID. */
const aliasTriesMax = 10;

/** Creates a token (specification, "Create Token"; contract, sections 1, 3, 4 and 6). */
export async function createToken(
  vault: Vault,
  context: CommandContext,
  request: TokenRequest,
): Promise<CommandResult<TokenAnswer>> {
  const tenantKeys = await tenantKeysOf(vault, context.caller.tenantId);
  const searchKey = await searchKeyOf(vault, context.caller.tenantId);
  return idempotently(vault, tenantKeys, context, 'create', async (cmd) => {
    const distinct = await deduplicationInForce(vault, context.caller.tenantId, request.deduplicate_token);
    const refusal = distinct ? await refuseDeduplication(vault, context.caller) : null;
    if (refusal !== null) return refusal;
    const drafted = draftToken(vault.expressions, request, vault.clock.now());
    if (!drafted.ok) return invalidFields(drafted.errors);
    const transform = transformForCreate(context.caller, drafted.value.draft.containers);
    if (transform === null) return rejected('forbidden');
    const derived = deriveFrom(vault.expressions, drafted.value.draft);
    if (!derived.ok) return invalidFields(derived.errors);
    const { type } = request;
    const fingerprint = fingerprintOf(tenantKeys.fingerprints, type, derived.value.fingerprintValue);
    const { indexValues } = derived.value;
    const keys = { tenantKeys, searchKey };
    const creation = { context, cmd, ...keys, ...drafted.value, indexValues, fingerprint, transform, distinct };
    return createUnderSomeId(vault, creation);
  });
}

type Creation = TokenDraft & {
  readonly context: CommandContext;
  readonly cmd: string | null;
  readonly tenantKeys: TenantKeys;
  readonly searchKey: Buffer;
  readonly indexValues: readonly string[];
  readonly fingerprint: string;
  readonly transform: Transform;
  readonly distinct: boolean;
};

async function createUnderSomeId(vault: Vault, creation: Creation): Promise<CommandResult<TokenAnswer>> {
  const random = randomForCommand(vault.random, creation.tenantKeys.claims, creation.cmd);
  const redrawn = creation.id?.kind === 'expression' && creation.id.random;
  let ownValue: Rejected | null = null;
  let isTaken = false;
  for (let tries = 0; tries < (redrawn ? aliasTriesMax : 1); tries += 1) {
    const id = chooseId(vault, creation, random);
    if (!id.ok) return invalidFields(id.errors);
    const own = checkOwnValues(creation, id.value);
    if (own.ok) {
      const result = await createUnder(vault, creation, id.value);
      if (result.ok || result.code !== 'id_in_use' || !(redrawn || creation.id === null)) return result;
      isTaken = true;
    } else {
      ownValue = invalidFields(own.errors);
      if (!redrawn || !concernsId(own.errors)) return ownValue;
    }
  }
  if (ownValue !== null && !isTaken) return ownValue;
  // Truly random: what follows from an idempotency key is taken when that key comes again after it was forgotten.
  return createUnder(vault, creation, vault.random.uuid());
}

function chooseId(vault: Vault, { id, draft }: Creation, random: Pick<Random, 'uuid' | 'integer'>): Checked<string> {
  if (id === null) return valid(random.uuid());
  return evaluateId(vault.expressions, id, draft.data, (maxExclusive) => random.integer(maxExclusive));
}

function checkOwnValues({ id, draft, ownValues }: Creation, chosenId: string): Checked<null> {
  const { containers, metadata } = draft;
  return checkOwnValue(ownValues, { givenId: id === null ? null : chosenId, containers, metadata });
}

/** A random alias may by chance be the value itself; then, as when it is taken, another one is drawn. */
function concernsId(errors: FieldErrors): boolean {
  return Object.keys(errors).every((path) => path === 'id');
}

function createUnder(vault: Vault, creation: Creation, id: string): Promise<CommandResult<TokenAnswer>> {
  const { context, cmd, tenantKeys, draft, fingerprint } = creation;
  const { tenantId } = context.caller;
  const stream = tokenStream(tenantKeys.names, id);
  const at = vault.clock.now();
  const content: TokenContent = { id, ...draft, fingerprint };
  const origin = originOf(context, at, cmd);
  return changeToken(vault, { tenantId, tenantKeys, stream }, origin, (view) =>
    attemptCreate(vault, creation, new Secret(content), view, at),
  );
}

async function attemptCreate(
  vault: Vault,
  creation: Creation,
  content: Secret<TokenContent>,
  view: TokenView,
  at: number,
): Promise<Attempt<CommandResult<TokenAnswer>>> {
  const { context, draft, cvc, expiresAt, indexValues, transform, distinct } = creation;
  const createdBy = context.caller.applicationId;
  const index = rowIndexOf(creation, content.reveal(), { createdBy, modifiedBy: null, indexValues });
  const hash = index.fingerprintHash;
  const payload = { content, cvc: cvc === null ? null : new Secret(cvc) };
  const other = distinct ? await findDuplicate(vault, view.tenantId, hash, null) : null;
  const stored = { do: 'store', payload, index } as const;
  if (other !== null) {
    await countDeduplication(vault, context.caller, other);
    const request = { operation: 'create', cvcIgnored: cvc !== null } as const;
    const answer = duplicateAnswer(vault, context, other.open, other, request);
    const tokens = [{ stream: other.view.stream, createdRevision: other.life.createdRevision }];
    return {
      ...{
        ...stored,
        decisions: [],
        distinctFingerprint: null,
        claims: { tokens, deduplicated: true, cvcIgnored: cvc !== null },
      },
      answer: () => done(answer),
    };
  }
  const { cvcRetentionMs } = vault;
  const command = { do: 'create', at, tokenType: draft.type, hasCvc: cvc !== null, cvcRetentionMs, expiresAt } as const;
  const decided = decide(command, view.state);
  if (!decided.ok) return { do: 'answer', answer: rejected(decided.code) };
  return {
    ...{ ...stored, decisions: decided.events, distinctFingerprint: distinct ? hash : null },
    answer({ state }) {
      if (state.life === null) throw new Error('a created token lives');
      const place = { life: state.life, revision: state.revision };
      return done({ ...tokenAnswer(vault.expressions, payload, place, transform), recordedAs: 'create' });
    },
  };
}
