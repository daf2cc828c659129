import { isDeepStrictEqual } from 'node:util';
import { type AccessFact, entriesOfRequest } from '../audit/access-log/new-entry.js';
import type { Caller } from '../domain/access/caller.js';
import type { Transform } from '../domain/access/transform.js';
import { budgetWithin, type SharedBudget } from '../domain/expressions/budget.js';
import type { Expressions, MaskedData } from '../domain/expressions/expressions.js';
import { isJsonObject, type Json, type JsonObject } from '../domain/json.js';
import type { Steps } from '../domain/steps.js';
import { formatTimestamp } from '../domain/time.js';
import type { TokenContent } from '../domain/token/content.js';
import { cvcAt } from '../domain/token/token-state.js';
import { typeRules } from '../domain/token/types/type-rules.js';
import type { NewAccessEntry } from '../events/access-log/access-entry.js';
import { refOfTokenStream } from '../events/access-log/entity-ref.js';
import { latestForCodes, latestNow } from '../ports/clock.js';
import { after, type Maybe } from '../ports/maybe.js';
import type { RequestContext } from '../vault/request-context.js';
import { type CommandResult, done, type Rejected, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import { unwrap } from '../vault/unwrap.js';
import type { Vault } from '../vault/vault.js';
import {
  type AnswerOptions,
  type DecryptedAnswer,
  type ShownToken,
  type TokenAnswer,
  tokenAnswer,
} from './token-answer.js';

/** The caller that the tokens are read for, and the facts about its request. */
export type ReadContext = Pick<RequestContext, 'caller' | 'traceId' | 'beganAt'>;

/**
 * Renders a released token so that it contains only what the caller may see (docs/contract.md, "The token object").
 * Returns null if the token has expired since it was decrypted.
 */
export type Render = (answer: TokenAnswer) => Steps<JsonObject | null>;

export type ReleaseDeps = Pick<Vault, 'recorder' | 'confirmReads' | 'clock' | 'expressions' | 'keys' | 'directory'>;

/**
 * Releases decrypted tokens for a response. Decrypted tokens can get into a response body only through this function
 * (docs/design.md, "A read, step by step"). It records in the access log that each token in `shown` was read, unless an
 * event records the access. Returns a function that renders these tokens. The returned function throws if a token was
 * not recorded with its transform.
 *
 * Call `release` even for a response without tokens, because it also confirms that everything that was read is current.
 * If a token is shown in plaintext, `release` resolves when all entries are durable. If it throws StoreUnavailable, the
 * response must not be sent.
 *
 * If `shared` is set, the masks of all tokens share this budget. If too little of the budget is left for a mask, the
 * token is shown without data, and `_extras.mask_skipped` is set.
 */
export function release(
  vault: ReleaseDeps,
  context: ReadContext,
  shown: readonly ShownToken[],
  shared?: SharedBudget,
): Maybe<Render> {
  return after(record(vault, context, shown), () => (answer: TokenAnswer) => {
    const decrypted = unwrap(answer.decrypted);
    if (!shown.some((recorded) => isSame(recorded, decrypted.shown))) {
      throw new Error('a token must be recorded as shown before it is rendered');
    }
    return tokenObject(vault, decrypted, shared);
  });
}

/** Releases one token and renders it. Returns `token_not_found` if the token has expired since it was decrypted. */
export async function releasedToken(
  vault: ReleaseDeps & Pick<Vault, 'turns'>,
  context: ReadContext,
  answer: TokenAnswer,
): Promise<CommandResult<JsonObject>> {
  const render = await release(vault, context, [answer]);
  const token = await vault.turns.begin(context.caller.tenantId).run(render(answer));
  return token === null ? rejected('token_not_found') : done(token);
}

/**
 * Returns the rejection of a read, once everything that was read is known to be current. A store server that has lost
 * its leadership may return outdated data, and a token must not be reported as missing because of such data.
 */
export function confirmed(
  { confirmReads }: Pick<Vault, 'confirmReads'>,
  { beganAt }: Pick<ReadContext, 'beganAt'>,
  rejection: Rejected,
): Maybe<Rejected> {
  return after(confirmReads(beganAt), () => rejection);
}

/**
 * Returns the same token, but with its mask in place of the plaintext. This is for pages that show plaintext only on
 * request.
 */
export function maskedAnswer(answer: TokenAnswer): TokenAnswer {
  if (answer.transform !== 'reveal') return answer;
  const { caller, read, options } = unwrap(answer.decrypted);
  return tokenAnswer(caller, read, 'mask', options);
}

function isSame(one: ShownToken, other: ShownToken): boolean {
  return one.stream === other.stream && one.transform === other.transform && one.recordedAs === other.recordedAs;
}

function record(vault: ReleaseDeps, context: ReadContext, shown: readonly ShownToken[]): Maybe<void> {
  const read = shown.every(isRead) ? shown : shown.filter(isRead);
  const revealing = shown.some(({ transform }) => transform === 'reveal');
  return after(entriesOf(vault, context, read), (entries) => {
    const stored = revealing ? vault.recorder.now(entries) : undefined;
    if (!revealing && entries.length > 0) vault.recorder.soon(entries);
    // Tokens that this request changed were read from the log, so it is not necessary to confirm that their rows are
    // current.
    if (shown.length > 0 && read.length === 0) return stored;
    return after(stored, () => vault.confirmReads(context.beganAt, revealing));
  });
}

function entriesOf(
  vault: ReleaseDeps,
  context: ReadContext,
  read: readonly ShownToken[],
): Maybe<readonly NewAccessEntry[]> {
  if (read.length === 0) return [];
  return after(tenantKeysOf(vault, context.caller.tenantId), (tenantKeys) => {
    const facts = read.map(({ stream, transform }) => factOf(refOfTokenStream(stream), transform));
    return entriesOfRequest(context, tenantKeys, vault.clock.now(), facts);
  });
}

function isRead({ recordedAs, transform }: ShownToken): boolean {
  return recordedAs === 'read' || (recordedAs === 'update' && transform === 'reveal');
}

function factOf(ref: string, transform: Transform): AccessFact {
  if (transform === 'reveal') return { entity: 'token', ref, operation: 'reveal', message: 'token shown in plaintext' };
  const message = transform === 'mask' ? 'token shown masked' : 'token shown without data';
  return { entity: 'token', ref, operation: 'read', message };
}

function* tokenObject(
  { expressions, clock }: Pick<Vault, 'expressions' | 'clock'>,
  { caller, read, shown, options }: DecryptedAnswer,
  shared: SharedBudget | undefined,
): Steps<JsonObject | null> {
  const { life, open } = read;
  const { extras, carriesFingerprint, fields, hiddenFrom = life.expiresAt } = options;
  const token = unwrap(open.content);
  // The retention period of the cvc may have ended after the cvc was decrypted, for example while a change was being
  // stored.
  const cvc = open.cvc === null || cvcAt(life, latestForCodes(clock)) === null ? null : unwrap(open.cvc);
  const data = yield* shownData(expressions, token, cvc, shown.transform, shared);
  // The token may have expired after it was decrypted, for example while its read was being recorded.
  if (hiddenFrom !== null && latestNow(clock) >= hiddenFrom) return null;
  const body: Record<string, Json> = { id: token.id, tenant_id: life.tenantId, type: token.type };
  if (data !== undefined && data !== 'skipped') body['data'] = data.json;
  if (token.mask !== null) body['mask'] = token.mask;
  if (showsFingerprint(caller, shown.transform, carriesFingerprint)) body['fingerprint'] = token.fingerprint;
  body['containers'] = token.containers;
  if (token.metadata !== null) body['metadata'] = token.metadata;
  if (token.search_indexes !== null) body['search_indexes'] = token.search_indexes;
  body['fingerprint_expression'] = token.fingerprint_expression;
  if (life.expiresAt !== null) body['expires_at'] = formatTimestamp(life.expiresAt);
  body['entity_ref'] = refOfTokenStream(shown.stream);
  body['created_by'] = life.createdBy;
  body['created_at'] = formatTimestamp(life.createdAt);
  if (life.modifiedBy !== null) body['modified_by'] = life.modifiedBy;
  if (life.modifiedAt !== null) body['modified_at'] = formatTimestamp(life.modifiedAt);
  const allExtras = data === 'skipped' ? { ...extras, mask_skipped: true } : extras;
  if (allExtras !== undefined && Object.keys(allExtras).length > 0) body['_extras'] = allExtras;
  return fields === undefined
    ? body
    : Object.fromEntries(Object.entries(body).filter(([field]) => fields.includes(field)));
}

/**
 * Returns true if the response contains the token's fingerprint. Threat: a caller that sees the fingerprint of a hidden
 * value creates tokens with candidate values, and compares the fingerprints of these tokens with that fingerprint. If
 * ten digits of a card number are known, the caller finds the other digits in seconds.
 */
function showsFingerprint(
  { tenantSettings }: Caller,
  transform: Transform,
  carries: AnswerOptions['carriesFingerprint'],
): boolean {
  return transform === 'reveal' || (carries ?? tenantSettings.show_fingerprints === 'true');
}

/**
 * Returns a token's data under a transform. If the data is redacted, returns undefined, and the `data` field is absent.
 * If too little of the budget is left for the mask, returns `skipped`.
 */
function* shownData(
  expressions: Expressions,
  token: TokenContent,
  cvc: string | null,
  transform: Transform,
  shared: SharedBudget | undefined,
): Steps<{ readonly json: Json } | 'skipped' | undefined> {
  if (transform === 'redact') return undefined;
  const data = cvc !== null && isJsonObject(token.data) ? { ...token.data, cvc } : token.data;
  if (transform === 'reveal') return { json: data };
  if (token.mask === null) return undefined;
  const variables = { data, metadata: token.metadata };
  const hideShortValues = hidesShortValues(token);
  if (shared === undefined) return masked(yield* expressions.masking(token.mask, variables, { hideShortValues }));
  const budget = budgetWithin(shared);
  const result = yield* expressions.masking(token.mask, variables, { hideShortValues, budget });
  return budget.settle() === 'cut short' ? 'skipped' : masked(result);
}

function masked(result: MaskedData): { readonly json: Json } | undefined {
  return result.redacted ? undefined : { json: result.data };
}

/**
 * Returns true if the mask of a token completely hides values that are too short for the filter in the mask. Only the
 * default masks of some types do this (docs/contract.md, "Masks").
 */
function hidesShortValues({ type, mask }: TokenContent): boolean {
  const { defaultMask, defaultMaskHidesShortValues } = typeRules[type];
  return defaultMaskHidesShortValues && isDeepStrictEqual(mask, defaultMask);
}

/** Returns true if a token object contains no data because the mask was skipped. */
export function isMaskSkipped({ _extras }: JsonObject): boolean {
  return isJsonObject(_extras) && _extras['mask_skipped'] === true;
}
