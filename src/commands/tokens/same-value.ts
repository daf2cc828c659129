import { createBudget } from '../../domain/expressions/budget.js';
import { isJsonArray, type Json } from '../../domain/json.js';
import type { Steps } from '../../domain/steps.js';
import type { ContentDraft } from '../../domain/token/derive-content.js';
import { evaluateFingerprint } from '../../domain/token/fields/fingerprint-expression.js';
import { typeRules } from '../../domain/token/types/type-rules.js';
import { fingerprintOf } from '../../events/tokens/fingerprint.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import type { OpenToken } from '../../vault/open-token.js';
import { unwrap } from '../../vault/unwrap.js';
import type { Vault } from '../../vault/vault.js';

type Deps = Pick<Vault, 'expressions'>;

/** The parts of a content from which a fingerprint is computed. */
export type Fingerprinted = Pick<ContentDraft, 'type' | 'data' | 'metadata' | 'fingerprint_expression'>;

/** Returns the fingerprint of a content, or null if its expression cannot be evaluated. */
export function* fingerprintOfContent(
  { expressions }: Deps,
  keys: TenantKeys,
  { type, data, metadata, fingerprint_expression: expression }: Fingerprinted,
): Steps<string | null> {
  const value = yield* evaluateFingerprint(expressions, expression, { data, metadata }, createBudget());
  return value.ok ? fingerprintOf(keys.fingerprints, type, value.value) : null;
}

/**
 * Returns whether a stored token with the fingerprint of `content` really has the same value (docs/contract.md, "Equal
 * values"). `sees` states whether the caller may see the stored token in plaintext, and whether it may see, or has sent,
 * all of `content`. Returns steps only if the two expressions differ.
 *
 * Threat: a caller creates a token whose expression is the text of another person's card number, and whose data is a
 * different number. Deduplication would return this token instead of storing the card. The two expressions must
 * therefore be the same, or else one expression must give the fingerprint for both values.
 *
 * Threat: a caller sends an expression that reads hidden data of the token, and learns from the result whether the two
 * fingerprints agree. The caller's own expression is therefore evaluated only over data that it may see. Otherwise, the
 * default expression of the type decides.
 */
export function isSameValue(
  deps: Deps,
  keys: TenantKeys,
  content: Fingerprinted,
  { content: stored, fingerprint }: OpenToken,
  sees: { readonly stored: boolean; readonly content: boolean },
): boolean | Steps<boolean> {
  const other = unwrap(stored);
  // Threat: a caller plants the JSON text of an object. `stringify` has the same result for the text and for the object.
  if (jsonType(other.data) !== jsonType(content.data)) return false;
  const own = content.fingerprint_expression;
  if (other.fingerprint_expression === own) return true;
  if (!sees.stored && !sees.content) return false;
  const common = sees.stored ? own : typeRules[other.type].defaultFingerprintExpression;
  return giveFingerprint(deps, keys, common, [content, other], fingerprint);
}

function jsonType(value: Json): string {
  return isJsonArray(value) ? 'array' : typeof value;
}

/** Returns whether one expression gives the fingerprint for each of the values, which have it by their own expression. */
function* giveFingerprint(
  deps: Deps,
  keys: TenantKeys,
  common: string,
  values: readonly Fingerprinted[],
  fingerprint: string,
): Steps<boolean> {
  for (const value of values) {
    if (value.fingerprint_expression === common) continue;
    const found = yield* fingerprintOfContent(deps, keys, { ...value, fingerprint_expression: common });
    if (found !== fingerprint) return false;
  }
  return true;
}

/** Returns the fingerprint expression of a token. */
export function expressionOf({ content }: OpenToken): string {
  return unwrap(content).fingerprint_expression;
}
