import type { Caller } from '../../domain/access/caller.js';
import type { Transform } from '../../domain/access/transform.js';
import type { Expressions } from '../../domain/expressions/expressions.js';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.js';
import { Secret } from '../../domain/secret.js';
import { formatTimestamp } from '../../domain/time/format-timestamp.js';
import type { TokenContent } from '../../domain/token/content.js';
import { cvcAt } from '../../domain/token/token-state.js';
import { typeRules } from '../../domain/token/types/type-rules.js';
import { latestForCodes } from '../../ports/clock.js';
import type { ShownToken } from '../access-log/record-reads.js';
import type { Vault } from '../vault.js';
import type { ReadToken } from './read-token.js';

/** A token as its caller may see it, with the revision that its entity tag names. */
export type TokenAnswer = ShownToken & {
  readonly id: string;
  readonly body: Secret<JsonObject>;
  readonly revision: number;
};

export type AnswerOptions = {
  readonly extras?: JsonObject;
  /** The request carried every value that the fingerprint is computed from. */
  readonly carriesFingerprint?: boolean;
};

/** The token object of the specification under a transform. Fields without a value are absent (contract, section 1). */
export function tokenAnswer(
  { expressions, clock }: Pick<Vault, 'expressions' | 'clock'>,
  caller: Caller,
  { view: { stream, state }, life, open: { content, cvc } }: ReadToken,
  transform: Transform,
  { extras, carriesFingerprint = false }: AnswerOptions = {},
): TokenAnswer {
  const token = content.reveal();
  // Its hour may have ended since it was opened, or while a change was stored.
  const living = cvcAt(life, latestForCodes(clock)) === null ? null : cvc;
  const data = shownData(expressions, token, living?.reveal() ?? null, transform);
  const body: Record<string, Json> = { id: token.id, tenant_id: life.tenantId, type: token.type };
  if (data !== undefined) body['data'] = data;
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
  if (extras !== undefined) body['_extras'] = extras;
  return { stream, id: token.id, body: new Secret(body), revision: state.revision, transform };
}

/**
 * Threat: fingerprints are an oracle. A caller that is shown the fingerprint of a hidden value can compare it with those of
 * values that it creates itself: a card number of which ten digits are known takes seconds.
 */
function showsFingerprint({ tenantSettings }: Caller, transform: Transform): boolean {
  return transform === 'reveal' || tenantSettings.show_fingerprints === 'true';
}

/** Undefined: redacted, the `data` key is absent. */
function shownData(
  expressions: Expressions,
  token: TokenContent,
  cvc: string | null,
  transform: Transform,
): Json | undefined {
  if (transform === 'redact') return undefined;
  const data = cvc !== null && isJsonObject(token.data) ? { ...token.data, cvc } : token.data;
  if (transform === 'reveal') return data;
  if (token.mask === null) return undefined;
  const masked = expressions.evaluateMask(
    token.mask,
    { data, metadata: token.metadata },
    { hideShortValues: hidesShortValues(token) },
  );
  return masked.redacted ? undefined : masked.data;
}

/** Only the default mask of the type hides what its filter would show whole (contract, section 3 "Types"). */
function hidesShortValues({ type, mask }: TokenContent): boolean {
  const { defaultMask, defaultMaskHidesShortValues } = typeRules[type];
  return defaultMaskHidesShortValues && JSON.stringify(mask) === JSON.stringify(defaultMask);
}
