import { createBudget } from '../expressions/budget.js';
import type { Expressions } from '../expressions/expressions.js';
import { type Checked, errorsOf, valid } from '../field-errors.js';
import { finish, type Steps } from '../steps.js';
import type { TokenContent } from './content.js';
import { checkContentSize } from './fields/content-size.js';
import { evaluateFingerprint } from './fields/fingerprint-expression.js';
import { evaluateSearchIndexes } from './fields/search-indexes.js';

/** Content without the id and the fingerprint. Those two are determined later. */
export type ContentDraft = Omit<TokenContent, 'fingerprint' | 'id'>;

/** The results of evaluating a token's expressions: the value to fingerprint, and the values to index. */
export type Derived = { readonly fingerprintValue: string; readonly indexValues: readonly string[] };

/**
 * Checks the size of the content, and then evaluates its search indexes and its fingerprint expression. These
 * expressions cannot read the cvc, because the data does not contain it. See docs/contract.md, "Request bodies",
 * "Search indexes" and "Expression limits".
 */
export function deriveFrom(expressions: Expressions, draft: ContentDraft): Checked<Derived> {
  return finish(deriving(expressions, draft));
}

/** Does the same as `deriveFrom`, for stored content. Its expressions were accepted, so they can be evaluated. */
export function deriveAgain(expressions: Expressions, content: TokenContent): Derived {
  const derived = deriveFrom(expressions, content);
  if (!derived.ok) throw new Error('an accepted expression can no longer be evaluated');
  return derived.value;
}

/** Does the same as `deriveFrom`, but works in steps. */
export function* deriving(expressions: Expressions, draft: ContentDraft): Steps<Checked<Derived>> {
  const size = checkContentSize({ ...draft });
  if (!size.ok) return size;
  const budget = createBudget();
  const { data, metadata } = draft;
  const indexes = yield* evaluateSearchIndexes(expressions, draft.search_indexes ?? [], { data }, budget);
  const fingerprint = yield* evaluateFingerprint(expressions, draft.fingerprint_expression, { data, metadata }, budget);
  if (indexes.ok && fingerprint.ok) {
    return valid({ fingerprintValue: fingerprint.value, indexValues: indexes.value });
  }
  return { ok: false, errors: errorsOf([indexes, fingerprint]) ?? {} };
}
