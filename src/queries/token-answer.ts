import type { ShownToken } from '../audit/access-log/record-reads.js';
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
import { latestForCodes } from '../ports/clock.js';
import type { Vault } from '../vault/vault.js';
import type { ReadToken } from './read-token.js';

/** A token as its caller may see it, with the revision for its entity tag. */
export type TokenAnswer = ShownToken & {
  readonly id: string;
  readonly revision: number;
  /**
   * Makes the token object. In an answer with several tokens their masks share a budget; a mask that the others left too
   * little for shows no data, and `_extras.mask_skipped` says so.
   */
  readonly render: (shared?: SharedBudget) => Steps<JsonObject>;
};

export type AnswerOptions = {
  readonly extras?: JsonObject;
  /** The request carried every value that the fingerprint is computed from. */
  readonly carriesFingerprint?: boolean;
};

/** The token object under a transform (docs/contract.md, "The token object"). Fields without a value are absent. */
export function tokenAnswer(
  vault: Pick<Vault, 'expressions' | 'clock'>,
  caller: Caller,
  read: ReadToken,
  transform: Transform,
  options: AnswerOptions = {},
): TokenAnswer {
  const { stream, state } = read.view;
  const { id } = read.open.content.reveal();
  const render = (shared?: SharedBudget) => tokenObject(vault, caller, read, transform, options, shared);
  return { stream, id, revision: state.revision, transform, render };
}

function* tokenObject(
  { expressions, clock }: Pick<Vault, 'expressions' | 'clock'>,
  caller: Caller,
  { life, open: { content, cvc } }: ReadToken,
  transform: Transform,
  { extras = {}, carriesFingerprint = false }: AnswerOptions,
  shared: SharedBudget | undefined,
): Steps<JsonObject> {
  const token = content.reveal();
  // Its hour may have ended since it was opened, or while a change was stored.
  const living = cvcAt(life, latestForCodes(clock)) === null ? null : cvc;
  const data = yield* shownData(expressions, token, living?.reveal() ?? null, transform, shared);
  const body: Record<string, Json> = { id: token.id, tenant_id: life.tenantId, type: token.type };
  if (data !== undefined && data !== 'skipped') body['data'] = data.json;
  if (token.mask !== null) body['mask'] = token.mask;
  if (carriesFingerprint || showsFingerprint(caller, transform)) body['fingerprint'] = token.fingerprint;
  body['containers'] = token.containers;
  if (token.metadata !== null) body['metadata'] = token.metadata;
  if (token.search_indexes !== null) body['search_indexes'] = token.search_indexes;
  body['fingerprint_expression'] = token.fingerprint_expression;
  if (life.expiresAt !== null) body['expires_at'] = formatTimestamp(life.expiresAt);
  body['created_by'] = life.createdBy;
  body['created_at'] = formatTimestamp(life.createdAt);
  if (life.modifiedBy !== null) body['modified_by'] = life.modifiedBy;
  if (life.modifiedAt !== null) body['modified_at'] = formatTimestamp(life.modifiedAt);
  const allExtras = data === 'skipped' ? { ...extras, mask_skipped: true } : extras;
  if (Object.keys(allExtras).length > 0) body['_extras'] = allExtras;
  return body;
}

/**
 * Threat: fingerprints are an oracle. A caller that is shown the fingerprint of a hidden value can compare it with those of
 * values that it creates itself: a card number of which ten digits are known takes seconds.
 */
function showsFingerprint({ tenantSettings }: Caller, transform: Transform): boolean {
  return transform === 'reveal' || tenantSettings.show_fingerprints === 'true';
}

/** Undefined: redacted, the `data` key is absent. `skipped`: so are the data of a mask that had no budget left. */
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
  if (shared === undefined) return shown(yield* expressions.masking(token.mask, variables, { hideShortValues }));
  const budget = budgetWithin(shared);
  const masked = yield* expressions.masking(token.mask, variables, { hideShortValues, budget });
  return budget.settle() === 'cut short' ? 'skipped' : shown(masked);
}

function shown(masked: MaskedData): { readonly json: Json } | undefined {
  return masked.redacted ? undefined : { json: masked.data };
}

/** Returns whether a token object lacks the data that its mask would have shown. */
export function isMaskSkipped({ _extras }: JsonObject): boolean {
  return isJsonObject(_extras ?? null) && (_extras as JsonObject)['mask_skipped'] === true;
}

/** Only the default mask of the type hides what its filter would show whole (docs/contract.md, "Masks"). */
function hidesShortValues({ type, mask }: TokenContent): boolean {
  const { defaultMask, defaultMaskHidesShortValues } = typeRules[type];
  return defaultMaskHidesShortValues && JSON.stringify(mask) === JSON.stringify(defaultMask);
}
