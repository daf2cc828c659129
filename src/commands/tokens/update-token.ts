import { isDeepStrictEqual } from 'node:util';
import { recordProbe } from '../../audit/access-log/record-guessing.js';
import type { Caller } from '../../domain/access/caller.js';
import { maySeeClear, transformFor } from '../../domain/access/decide-access.js';
import { decideMove } from '../../domain/access/decide-move.js';
import type { Transform } from '../../domain/access/transform.js';
import { type Checked, type FieldErrors, invalid, valid } from '../../domain/field-errors.js';
import { isJsonObject } from '../../domain/json.js';
import type { TokenContent } from '../../domain/token/content.js';
import { decide, type TokenCommand } from '../../domain/token/decide.js';
import { deriving } from '../../domain/token/derive-content.js';
import {
  checkPatch,
  checkStoredFields,
  containersAfter,
  draftUpdate,
  expressionsAfter,
  type TokenPatch,
  type UpdateDraft,
} from '../../domain/token/draft-update.js';
import { preconditionHolds } from '../../domain/token/entity-tag.js';
import { rejectEmbeddedValue, rejectPossibleEmbeddedValue } from '../../domain/token/fields/embedded-value.js';
import { carriesPart } from '../../domain/token/fields/fingerprint-expression.js';
import { cvcAt, isExpired, type TokenLife } from '../../domain/token/token-state.js';
import { typeRules } from '../../domain/token/types/type-rules.js';
import { fingerprintHash, fingerprintOf } from '../../events/tokens/fingerprint.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import { codesAhead, latestForCodes, latestNow, timesOf } from '../../ports/clock.js';
import { rowIndexOf } from '../../projections/row-index.js';
import type { ReadToken } from '../../queries/read-token.js';
import { type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import { Decrypted } from '../../vault/decrypted.js';
import type { ChargedMisses } from '../../vault/guesses.js';
import { KeyLost } from '../../vault/key-lost.js';
import { type OpenToken, openRow, openTokenOf } from '../../vault/open-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields, type Rejected, rejected } from '../../vault/result.js';
import { indexKeysOf, type SearchTermKeyDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import { unwrap } from '../../vault/unwrap.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimedToken } from '../../views/finished-claim.js';
import type { TokenView } from '../../views/token-view.js';
import { originOf } from '../event-origin.js';
import { claimRequest } from '../idempotency.js';
import { type Conflict, conflict } from '../retry-on-conflict.js';
import {
  type Attempt,
  type ChangeTokensDeps,
  changeTokens,
  type DistinctFingerprint,
  nothingToSeal,
  type TokenWrite,
} from '../write-path.js';
import {
  type ChargeDeduplicated,
  chargeDeduplicated,
  chargeDeduplication,
  type DuplicateDeps,
  deduplicationInForce,
  duplicateAnswer,
  type FoundDuplicate,
  findDuplicate,
} from './deduplication.js';
import { renderAgain } from './render-again.js';

type UpdateTokenDeps = ChangeTokensDeps &
  DuplicateDeps &
  Pick<Vault, 'claims' | 'cvcRetentionMs' | 'generations' | 'guesses' | 'recorder'>;

type Update = {
  readonly context: RequestContext;
  readonly tenantKeys: TenantKeys;
  readonly stream: string;
  readonly patch: TokenPatch;
  /** The value of the `If-Match` header. Null if the request has no such header. */
  readonly ifMatch: string | null;
  /** True if deduplication is in force. */
  readonly deduplicates: boolean;
  readonly charges: Charges;
};

/** The charges for one request. Each of them is made only once, even if there are several attempts. */
type Charges = {
  /** Charges the caller for the one value that the request may deduplicate. */
  value(): Promise<ChargedMisses | Rejected>;
  /** Charges the caller for the one guess that the request may be. */
  guess(): Promise<Rejected | null>;
  /** Rejects a caller that had used up its guesses before the request. */
  nothing(): Promise<Rejected | null>;
  /** Charges the caller for the tokens that the request finds. */
  readonly deduplicated: ChargeDeduplicated;
};

type TokenResult = CommandResult<TokenAnswer>;

/**
 * Merges a patch into a token (docs/contract.md, "Update a token", "Changing expressions" and "Deduplication on
 * update").
 */
export async function updateToken(
  vault: UpdateTokenDeps,
  context: RequestContext,
  id: string,
  patch: TokenPatch,
  ifMatch: string | null,
): Promise<TokenResult> {
  const { caller } = context;
  const { tenantId } = caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const claim = await claimRequest(vault, tenantKeys, caller.applicationId, context.idempotency);
  if (claim.state === 'in_flight') return rejected('idempotency_in_flight');
  if (claim.state === 'repeat')
    return renderAgain(vault, context, { operation: 'update', patch }, claim.result.tokens[0]);
  try {
    const checked = checkPatch(vault.expressions, patch, vault.clock.now());
    if (!checked.ok) return invalidFields(checked.errors);
    const stream = tokenStream(tenantKeys.names, id);
    const deduplicates = deduplicationInForce(caller, patch.deduplicate_token);
    const charges = chargesOf(vault, caller);
    const update: Update = { context, tenantKeys, stream, patch, ifMatch, deduplicates, charges };
    const target = { tenantId, tenantKeys, streams: [stream], origin: originOf(context, claim.cmd) };
    return await changeTokens(vault, target, (attempt) => attemptUpdate(vault, update, attempt));
  } finally {
    await claim.release();
  }
}

function chargesOf(vault: Pick<Vault, 'guesses'>, caller: Caller): Charges {
  return {
    value: once(() => chargeDeduplication(vault, caller, 1)),
    guess: once(() => vault.guesses.charge(caller, 1)),
    nothing: once(() => vault.guesses.charge(caller, 0)),
    deduplicated: chargeDeduplicated(vault, caller),
  };
}

/** Returns a function that runs `run` on the first call, and returns the same promise on every call. */
function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => {
    result ??= run();
    return result;
  };
}

async function attemptUpdate(
  vault: UpdateTokenDeps,
  update: Update,
  attempt: Attempt,
): Promise<TokenResult | Conflict> {
  const { stream, patch } = update;
  const view = attempt.viewOf(stream);
  const { life, revision } = view.state;
  if (life === null || isExpired(life, latestNow(vault.clock))) return rejected('token_not_found');
  const opened = await openRow(vault, view, life);
  if (opened === null) throw new KeyLost(stream, 'key_destroyed_without_event');
  // Threat: a process reads the log from a deposed leader, which returns an older state of the token. An update that
  // changes nothing appends nothing, so no conflict shows that the state is outdated. Its response would contain data
  // that the caller may no longer see.
  if (revision < opened.newest) return conflict;
  const { open } = opened;
  const content = unwrap(open.content);
  const allowed = authorise(update, content);
  if (!allowed.ok) return allowed;
  if (!preconditionHolds(update.ifMatch, revision)) return rejected('precondition_failed');
  const fields = checkStoredFields(content, patch);
  if (!fields.ok) return invalidFields(fields.errors);
  const before: Before = { view, life, open, transform: allowed.value };
  const drafted = await draft(vault, update, before, attempt.at);
  if (!drafted.ok) return drafted;
  const found = await findOther(vault, update, before, drafted.value);
  if (!found.ok) return found;
  const { token: other, distinctFingerprint } = found.value;
  if (other !== null) return storeDuplicate(update, drafted.value.updated, { view, other }, attempt);
  return store(vault, update, before, drafted.value, distinctFingerprint, attempt);
}

/** The token before the update, and the transform of the updated token in the response. */
type Before = {
  readonly view: TokenView;
  readonly life: TokenLife;
  readonly open: OpenToken;
  readonly transform: Transform;
};

/**
 * Charges the caller for a deduplication, and looks for another live token with the new value. Returns no token if
 * deduplication is not in force, or if the fingerprint stays the same.
 */
async function findOther(
  vault: DuplicateDeps,
  { context: { caller }, stream, patch, deduplicates, charges }: Update,
  { open }: Before,
  { content, fingerprintHash: hash, updated }: Drafted,
): Promise<CommandResult<FoundDuplicate>> {
  const isNew = content.fingerprint !== open.fingerprint;
  // Charges the caller even if the new data equals the old data. Without this charge, a caller that has used up its
  // guesses could tell right candidates from wrong ones, because only wrong candidates would be rejected.
  if (!deduplicates || !(isNew || patch.data !== undefined)) return done(notSought);
  const charged = await charges.value();
  if (!charged.ok) return charged;
  const seesStored = maySeeClear(caller, open.containers);
  const seesValues = updated.carriesFingerprint || seesStored;
  // Threat: the caller sends a candidate for one of the two values of a fingerprint. The update returns 200 only if the
  // candidate is right, and 403 otherwise.
  const confirms = !seesValues && carriesPart(vault.expressions, content.fingerprint_expression, patch.data);
  const exhausted = confirms ? await charges.guess() : null;
  if (exhausted !== null) return exhausted;
  // Threat: the fingerprint of a token depends on two values, and the caller cannot see one of them. The caller creates
  // a token for each candidate of the hidden value, and then changes the other value in the real token. The update
  // finds a duplicate only among the tokens with the right candidate, so one request tries all candidates.
  if (isNew && !seesValues) return (await charges.nothing()) ?? rejected('reveal_required');
  const sought = { content, hash, seesContent: seesStored, mustLast: false };
  const found = isNew ? await findDuplicate(vault, caller, sought, stream) : notSought;
  const refusal = await charges.deduplicated(found.token === null ? [] : [found.token]);
  return refusal ?? done(found);
}

const notSought: FoundDuplicate = { token: null, distinctFingerprint: null };

/** Stores the updated token, and returns it under the transform. */
async function store(
  vault: SearchTermKeyDeps & Pick<Vault, 'clock' | 'cvcRetentionMs'>,
  update: Update,
  { view, life, open, transform }: Before,
  { content, fingerprintHash: hash, updated, indexValues }: Drafted,
  distinctFingerprint: DistinctFingerprint | null,
  attempt: Attempt,
): Promise<TokenResult | Conflict> {
  const decided = decide(updateCommand(vault, update, updated, attempt.at), view.state);
  if (!decided.ok) return rejected(decided.code);
  const { caller } = update.context;
  const newCvc = updated.cvc.kind === 'set' ? new Decrypted(updated.cvc.value) : null;
  const updatedToken = openTokenOf(content, updated.cvc.kind === 'kept' ? open.cvc : newCvc);
  const keys = await indexKeysOf(vault, view.tenantId);
  const circumstances = { createdBy: life.createdBy, modifiedBy: caller.applicationId, indexValues };
  const write: TokenWrite = {
    view,
    decisions: decided.events,
    payload: { content: updatedToken.content, cvc: newCvc },
    index: rowIndexOf(keys, hash, content, circumstances),
    distinctFingerprint,
  };
  const sealed = await attempt.seal([write]);
  const after = sealed.viewOf(view.stream);
  if (after.state.life === null) throw new Error('an updated token must be live');
  const { carriesFingerprint } = updated;
  const claimed = claimedBy(after, after.state.life, carriesFingerprint);
  if ((await attempt.commit(sealed, { tokens: [claimed] })) === conflict) return conflict;
  const read = { view: after, life: after.state.life, open: updatedToken };
  // Threat: a caller that may update but not read a token reads it with an update that changes nothing. Such an update
  // appends no event, so the access log records it as a read.
  const recordedAs = decided.events.length === 0 ? 'read' : 'update';
  return done(tokenAnswer(caller, read, transform, { recordedAs, carriesFingerprint }));
}

/**
 * Returns true if the caller may not see the token in plaintext and the token keeps data that the patch does not
 * contain. The caller would then learn something about this data from an error that depends on it.
 */
function mergesHiddenData(caller: Caller, containers: readonly string[], { data }: TokenPatch): boolean {
  return !maySeeClear(caller, containers) && (data === undefined || isJsonObject(data));
}

/**
 * Rejects an update of a token whose data the caller may not see. The rejection is recorded and costs a guess. Threat: a
 * caller measures the hidden data with patches that always fail. If the patch fails because the merged data is too
 * large, or for another reason, the caller learns whether it is too large.
 */
async function rejectHidden(
  vault: Pick<Vault, 'clock' | 'recorder'>,
  { context, tenantKeys, stream, charges }: Update,
  errors: FieldErrors,
): Promise<Rejected> {
  const exhausted = await charges.guess();
  if (exhausted !== null) return exhausted;
  recordProbe(vault, context, tenantKeys, stream);
  return invalidFields(errors);
}

/**
 * Handles an update that gives the token a fingerprint that another live token already has. Changes neither token,
 * stores the result for a retry, and returns the other token.
 */
async function storeDuplicate(
  { context }: Update,
  { carriesFingerprint }: UpdateDraft,
  { view, other }: { readonly view: TokenView; readonly other: ReadToken },
  attempt: Attempt,
): Promise<TokenResult | Conflict> {
  // Threat: a caller creates a token with its guess, and then updates the real token with the same guess. The update
  // finds the caller's token as a duplicate only if the guess is wrong. An update is therefore charged for hits as well
  // as for misses.
  const claimed = { ...claimedBy(other.view, other.life, carriesFingerprint), deduplicated: true };
  const sealed = await attempt.seal([{ view, decisions: [], ...nothingToSeal }]);
  if ((await attempt.commit(sealed, { tokens: [claimed] })) === conflict) return conflict;
  return done(duplicateAnswer(context, other, { operation: 'update', cvcIgnored: false, carriesFingerprint }));
}

function claimedBy({ stream }: TokenView, life: TokenLife, carriesFingerprint: boolean): ClaimedToken {
  const { createdRevision, contentRevision } = life;
  return carriesFingerprint
    ? { stream, createdRevision, carriedContent: contentRevision }
    : { stream, createdRevision };
}

function updateCommand(
  vault: Pick<Vault, 'clock' | 'cvcRetentionMs'>,
  { context }: Update,
  { changed, dataReplaced, expiresAt, cvc }: UpdateDraft,
  at: number,
): TokenCommand {
  return {
    kind: 'update',
    ...timesOf(vault.clock, at),
    changed,
    dataReplaced,
    // If `keep_superseded_data` is on, the keys of replaced data are kept until the token is deleted. Until then,
    // callers can read the token as it was at an earlier time.
    keepSuperseded: context.caller.tenantSettings.keep_superseded_data === 'true',
    expiresAt,
    cvc: cvc.kind,
    cvcRetentionMs: vault.cvcRetentionMs + codesAhead(vault.clock),
  };
}

/**
 * Runs every check that can return 403. The checks run before the patch is merged and before any expression is
 * evaluated (docs/contract.md, "Changing expressions").
 */
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
  readonly content: TokenContent;
  readonly fingerprintHash: string;
  readonly indexValues: readonly string[];
};

/** Drafts the updated token. If the patch is invalid for a token whose data is hidden, the rejection costs a guess. */
async function draft(
  vault: Pick<Vault, 'clock' | 'expressions' | 'recorder' | 'turns'>,
  update: Update,
  { open, life, transform }: Before,
  at: number,
): Promise<CommandResult<Drafted>> {
  const { context, patch, deduplicates, charges } = update;
  const isHidden = transform !== 'reveal' && mergesHiddenData(context.caller, open.containers, patch);
  // An update with deduplication may change nothing even if it passes all checks. Without this rejection, a caller that
  // has used up its guesses could still tell whether the merged data is too large.
  const exhausted = isHidden && deduplicates && patch.data !== undefined ? await charges.nothing() : null;
  if (exhausted !== null) return exhausted;
  const merged = await merge(vault, update, unwrap(open.content), life, at);
  if (merged.ok) return done(merged.value);
  return isHidden ? rejectHidden(vault, update, merged.errors) : invalidFields(merged.errors);
}

async function merge(
  vault: Pick<Vault, 'clock' | 'expressions' | 'turns'>,
  { context, patch, tenantKeys }: Update,
  content: TokenContent,
  life: TokenLife,
  at: number,
): Promise<Checked<Drafted>> {
  const stored = { content, expiresAt: life.expiresAt, hasCvc: cvcAt(life, latestForCodes(vault.clock)) !== null };
  const slices = vault.turns.begin(context.caller.tenantId);
  const drafted = await slices.run(draftUpdate(vault.expressions, stored, patch, at));
  if (!drafted.ok) return drafted;
  const { draft: next, ownValues, ownValuesGiven } = drafted.value;
  if (drafted.value.changed.length === 0) {
    const hash = fingerprintHash(tenantKeys.claims, content.fingerprint);
    return valid({ updated: drafted.value, content, fingerprintHash: hash, indexValues: [] });
  }
  const derived = await slices.run(deriving(vault.expressions, next));
  if (!derived.ok) return derived;
  const own =
    ownValuesGiven || maySeeClear(context.caller, content.containers)
      ? rejectEmbeddedValue(ownValues, { givenId: null, ...next })
      : rejectPossibleEmbeddedValue(typeRules[content.type].ownValueDigitsMin, content, next);
  if (!own.ok) return own;
  // A generated id may by chance contain the value with which the token was created.
  const isNewValue = !isDeepStrictEqual(ownValues, typeRules[content.type].ownValues(content.data));
  if (isNewValue && !rejectEmbeddedValue(ownValues, { givenId: content.id, containers: [], metadata: null }).ok) {
    return invalid('data', "the token's id must not contain its value");
  }
  const fingerprint = fingerprintOf(tenantKeys.fingerprints, content.type, derived.value.fingerprintValue);
  return valid({
    updated: drafted.value,
    content: { id: content.id, ...next, fingerprint },
    fingerprintHash: fingerprintHash(tenantKeys.claims, fingerprint),
    indexValues: derived.value.indexValues,
  });
}
