import { isDeepStrictEqual } from 'node:util';
import { maySeeClear, transformFor } from '../../domain/access/decide-access.js';
import { decideMove } from '../../domain/access/decide-move.js';
import type { Transform } from '../../domain/access/transform.js';
import { type Checked, invalid, valid } from '../../domain/field-errors.js';
import { Secret } from '../../domain/secret.js';
import type { TokenContent } from '../../domain/token/content.js';
import { decide } from '../../domain/token/decide.js';
import { deriving } from '../../domain/token/derive-content.js';
import {
  checkPatch,
  containersAfter,
  draftUpdate,
  expressionsAfter,
  type TokenPatch,
  type UpdateDraft,
} from '../../domain/token/draft-update.js';
import { checkOwnValue, checkUnseenOwnValue } from '../../domain/token/fields/own-value.js';
import { cvcAt, isExpired, type TokenLife } from '../../domain/token/token-state.js';
import { typeRules } from '../../domain/token/types/type-rules.js';
import { fingerprintHash, fingerprintOf } from '../../events/tokens/fingerprint.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { codesAhead, earliestForCodes, earliestNow, latestForCodes, latestNow } from '../../ports/clock.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import { rowIndexOf } from '../../projections/row-index.js';
import { type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import type { CommandContext } from '../../vault/command-context.js';
import type { ChargedMisses } from '../../vault/guesses.js';
import { KeyLost } from '../../vault/key-lost.js';
import { type OpenToken, openToken } from '../../vault/open-token.js';
import { type CommandResult, done, invalidFields, type Rejected, rejected } from '../../vault/result.js';
import { indexKeysOf, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import { type Attempt, changeToken } from '../change-token.js';
import { originOf } from '../event-origin.js';
import { chargeDeduplication, refuseDeduplication } from './deduplication.js';
import { duplicateAnswer } from './duplicate-answer.js';
import { deduplicationInForce, findDuplicate } from './find-duplicate.js';
import { idempotently } from './idempotently.js';
import { preconditionHolds } from './precondition.js';
import { renderAgain } from './render-again.js';

type Update = {
  readonly context: CommandContext;
  readonly tenantKeys: TenantKeys;
  readonly patch: TokenPatch;
  /** Revisions named by `If-Match`, or null without one. */
  readonly ifMatch: string | null;
  readonly at: number;
  readonly distinct: boolean;
  readonly keepSuperseded: boolean;
  /** Charges the one value that the request may deduplicate, once for all attempts. */
  readonly charge: () => Promise<ChargedMisses | Rejected>;
};

type TokenResult = CommandResult<TokenAnswer>;

/**
 * Merges a patch onto a token (docs/contract.md, "Update a token"; docs/contract.md, "Changing expressions" and
 * "Deduplication on update").
 */
export async function updateToken(
  vault: Vault,
  context: CommandContext,
  id: string,
  patch: TokenPatch,
  ifMatch: string | null,
): Promise<TokenResult> {
  const { tenantId } = context.caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const stream = tokenStream(tenantKeys.names, id);
  const run = async (cmd: string | null): Promise<TokenResult> => {
    const checked = checkPatch(vault.expressions, patch, vault.clock.now());
    if (!checked.ok) return invalidFields(checked.errors);
    const distinct = deduplicationInForce(context.caller, patch.deduplicate_token);
    // The keys of replaced data live until the token is deleted, for replay as of an earlier time.
    const keepSuperseded = context.caller.tenantSettings.keep_superseded_data === 'true';
    let charged: Promise<ChargedMisses | Rejected> | null = null;
    const charge = () => {
      charged ??= chargeDeduplication(vault, context.caller, 1);
      return charged;
    };
    const update = { context, tenantKeys, patch, ifMatch, distinct, keepSuperseded, charge };
    return changeToken(vault, { tenantId, tenantKeys, stream }, originOf(context, cmd), (view, at) =>
      attemptUpdate(vault, { ...update, at }, view),
    );
  };
  return idempotently(vault, tenantKeys, context, run, ({ tokens }) =>
    renderAgain(vault, context, 'update', tokens[0]),
  );
}

async function attemptUpdate(vault: Vault, update: Update, view: TokenView): Promise<Attempt<TokenResult>> {
  const { life, revision } = view.state;
  if (life === null || isExpired(life, latestNow(vault.clock))) return refuse(rejected('token_not_found'));
  const open = await openToken(vault, view, life);
  if (open === null) throw new KeyLost(view.stream, 'key_destroyed_without_event');
  const allowed = authorise(update, open.content.reveal());
  if (!allowed.ok) return refuse(allowed);
  if (!preconditionHolds(update.ifMatch, revision)) return refuse(rejected('precondition_failed'));
  const drafted = await draft(vault, update, open.content.reveal(), life);
  return drafted.ok
    ? storeUpdate(vault, update, { view, life, open, transform: allowed.value, ...drafted.value })
    : refuse(invalidFields(drafted.errors));
}

function refuse(answer: Rejected): Attempt<TokenResult> {
  return { do: 'answer', answer };
}

/** Every 403 comes before anything is merged or evaluated (docs/contract.md, "Changing expressions"). */
function authorise({ context, patch }: Update, content: TokenContent): CommandResult<Transform> {
  const { caller } = context;
  const { containers } = content;
  if (transformFor(caller, 'token:update', containers) === null) return rejected('forbidden');
  const transform = decideMove(caller, containers, containersAfter(content, patch));
  if (transform === null) return rejected('forbidden');
  const { mask, search_indexes, fingerprint_expression } = content;
  const same = isDeepStrictEqual(expressionsAfter(content, patch), { mask, search_indexes, fingerprint_expression });
  return same || maySeeClear(caller, containers) ? done(transform) : rejected('reveal_required');
}

type Drafted = {
  readonly updated: UpdateDraft;
  readonly content: Secret<TokenContent>;
  readonly indexValues: readonly string[];
};

async function draft(
  vault: Vault,
  { context, patch, at, tenantKeys }: Update,
  content: TokenContent,
  life: TokenLife,
): Promise<Checked<Drafted>> {
  const stored = { content, expiresAt: life.expiresAt, hasCvc: cvcAt(life, latestForCodes(vault.clock)) !== null };
  const work = vault.turns.begin(context.caller.tenantId);
  const drafted = await work.run(draftUpdate(vault.expressions, stored, patch, at));
  if (!drafted.ok) return drafted;
  const { draft: next, ownValues, ownValuesGiven } = drafted.value;
  if (drafted.value.changed.length === 0) {
    return valid({ updated: drafted.value, content: new Secret(content), indexValues: [] });
  }
  const derived = await work.run(deriving(vault.expressions, next));
  if (!derived.ok) return derived;
  const own =
    ownValuesGiven || maySeeClear(context.caller, content.containers)
      ? checkOwnValue(ownValues, { givenId: null, ...next })
      : checkUnseenOwnValue(typeRules[content.type].ownValueDigitsMin, content, next);
  if (!own.ok) return own;
  if (!checkOwnValue(ownValues, { givenId: content.id, containers: [], metadata: null }).ok) {
    return invalid('data', "the token's id must not contain its value");
  }
  const fingerprint = fingerprintOf(tenantKeys.fingerprints, content.type, derived.value.fingerprintValue);
  const { indexValues } = derived.value;
  return valid({ updated: drafted.value, content: new Secret({ id: content.id, ...next, fingerprint }), indexValues });
}

type Ready = Drafted & {
  readonly view: TokenView;
  readonly life: TokenLife;
  readonly open: OpenToken;
  readonly transform: Transform;
};

async function storeUpdate(vault: Vault, update: Update, ready: Ready): Promise<Attempt<TokenResult>> {
  const { context, distinct, at, keepSuperseded } = update;
  const { view, life, open, content, indexValues, updated, transform } = ready;
  const { fingerprint } = content.reveal();
  const modifiedBy = context.caller.applicationId;
  const keys = await indexKeysOf(vault, view.tenantId);
  const hash = fingerprintHash(update.tenantKeys.claims, fingerprint);
  const index = rowIndexOf(keys, hash, content.reveal(), { createdBy: life.createdBy, modifiedBy, indexValues });
  const guarded = distinct && fingerprint !== open.content.reveal().fingerprint;
  // Also when nothing changes: else a caller out of guesses learns by the answer that its candidate is the value.
  const guesses = distinct && (guarded || update.patch.data !== undefined);
  const charged = guesses ? await update.charge() : null;
  if (charged !== null && !charged.ok) return refuse(charged);
  // Threat: a caller that creates a token for each candidate of a hidden value, and then changes another value that the
  // fingerprint reads, meets the token with the right candidate: one request tries them all.
  const seesValues = updated.carriesFingerprint || maySeeClear(context.caller, open.content.reveal().containers);
  if (guarded && !seesValues) return refuse(rejected('reveal_required'));
  const newCvc = updated.cvc.is === 'set' ? new Secret(updated.cvc.value) : null;
  const stored = { do: 'store', payload: { content, cvc: newCvc }, index } as const;
  const other = guarded ? await findDuplicate(vault, view.tenantId, hash, view.stream) : null;
  const met = other === null ? [] : [other];
  const refusal = guesses ? await refuseDeduplication(vault, context.caller, met) : null;
  if (refusal !== null) return refuse(refusal);
  const { carriesFingerprint } = updated;
  if (other !== null) {
    // Threat: a hit is charged, too. A caller that creates a token with its guess meets that one unless the guess is right.
    const { createdRevision, contentRevision } = other.life;
    const carried = carriesFingerprint ? { carriedContent: contentRevision } : {};
    const tokens = [{ stream: other.view.stream, createdRevision, deduplicated: true, ...carried }];
    const asked = { operation: 'update', cvcIgnored: false, carriesFingerprint } as const;
    return {
      ...{ ...stored, decisions: [], distinctFingerprint: null, claims: { tokens } },
      answer: () => done(duplicateAnswer(vault, context, other, asked)),
    };
  }
  const { changed, dataReplaced, expiresAt } = updated;
  const cvcRetentionMs = vault.cvcRetentionMs + codesAhead(vault.clock);
  const times = { at, endsUpTo: earliestNow(vault.clock), codesEndUpTo: earliestForCodes(vault.clock) };
  const change = { changed, dataReplaced, keepSuperseded, expiresAt, cvc: updated.cvc.is, cvcRetentionMs };
  const decided = decide({ do: 'update', ...times, ...change }, view.state);
  if (!decided.ok) return refuse(rejected(decided.code));
  const shown = { content, cvc: updated.cvc.is === 'kept' ? open.cvc : newCvc };
  return {
    ...{ ...stored, decisions: decided.events, distinctFingerprint: guarded ? hash : null },
    carriesFingerprint,
    answer(view) {
      const { life } = view.state;
      if (life === null) throw new Error('an updated token must be live');
      if (isExpired(life, latestNow(vault.clock))) return rejected('token_not_found');
      const answer = tokenAnswer(vault, context.caller, { view, life, open: shown }, transform, { carriesFingerprint });
      return done({ ...answer, recordedAs: 'update' });
    },
  };
}
