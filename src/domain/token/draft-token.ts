import type { Expressions } from '../expressions/expressions.js';
import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import type { Json } from '../json.js';
import type { ContentDraft } from './derive-content.js';
import { checkContainers } from './fields/containers.js';
import { checkRawSize } from './fields/content-size.js';
import { checkExpiresAt } from './fields/expires-at.js';
import { checkFingerprintExpression } from './fields/fingerprint-expression.js';
import { checkIdSource, type IdSource } from './fields/id.js';
import { checkMetadata } from './fields/metadata.js';
import { checkSearchIndexes } from './fields/search-indexes.js';
import type { TokenType } from './types/token-type.js';
import { typeRules } from './types/type-rules.js';

/**
 * A create request whose fields have the right JSON types. A field that is null counts as absent, except for `data`.
 */
export type TokenRequest = {
  readonly id?: string | null | undefined;
  readonly type: TokenType;
  readonly data: Json;
  readonly mask?: Json | undefined;
  readonly containers?: Json | undefined;
  readonly metadata?: Json | undefined;
  readonly search_indexes?: readonly string[] | null | undefined;
  readonly fingerprint_expression?: string | null | undefined;
  readonly deduplicate_token?: boolean | null | undefined;
  readonly expires_at?: string | null | undefined;
};

export type TokenDraft = {
  /** Null means that the vault generates an id. */
  readonly id: IdSource | null;
  readonly draft: ContentDraft;
  readonly cvc: string | null;
  readonly expiresAt: number | null;
  readonly ownValues: readonly string[];
};

/**
 * Checks everything in a create request that can be checked without evaluating expressions or reading a store. Fills in
 * the defaults for the token type.
 */
export function draftToken(expressions: Expressions, request: TokenRequest, now: number): Checked<TokenDraft> {
  const size = checkRawSize(request);
  if (!size.ok) return size;
  const rule = typeRules[request.type];
  const searchIndexes = request.search_indexes ?? rule.defaultSearchIndexes;
  const fingerprintExpression = request.fingerprint_expression ?? rule.defaultFingerprintExpression;
  const id = typeof request.id === 'string' ? checkIdSource(expressions, request.id) : valid(null);
  const data = request.data === null ? invalid<never>('data', 'must not be null') : rule.validate(request.data);
  const containers = checkContainers(request.containers ?? [rule.defaultContainer]);
  const metadata = request.metadata == null ? valid(null) : checkMetadata(request.metadata);
  const mask = expressions.parseMask(request.mask ?? rule.defaultMask);
  const indexes = checkSearchIndexes(expressions, searchIndexes);
  const fingerprint = checkFingerprintExpression(expressions, fingerprintExpression);
  const expiresAt = checkExpiresAt(request.expires_at ?? null, now);
  if (!(id.ok && data.ok && containers.ok && metadata.ok && mask.ok && expiresAt.ok && indexes.ok && fingerprint.ok)) {
    const checks = [id, data, mask, containers, metadata, indexes, fingerprint, expiresAt];
    return { ok: false, errors: errorsOf(checks) ?? {} };
  }
  const draft: ContentDraft = {
    type: request.type,
    data: data.value.data,
    mask: mask.value,
    containers: containers.value,
    metadata: metadata.value,
    search_indexes: request.search_indexes == null && searchIndexes.length === 0 ? null : searchIndexes,
    fingerprint_expression: fingerprintExpression,
  };
  const { cvc } = data.value;
  return valid({ id: id.value, draft, cvc, expiresAt: expiresAt.value, ownValues: rule.ownValues(data.value.data) });
}
