import { type Budget, createBudget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import type { RandomBelow } from '../../expressions/scope.js';
import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';
import type { Steps } from '../../steps.js';
import { codePointCount, isWellFormed } from '../../text.js';

const charactersMin = 3;
const charactersMax = 400;
const forbidden = /[#/\\+?[\]|&=%<>{}^]/;
const control = /\p{Cc}/u;

/** Checks a token id, which comes either from a request or from an expression. See docs/contract.md, "Token ids". */
export function checkId(value: Json): Checked<string> {
  if (typeof value !== 'string') return invalid('id', 'must be a string');
  const characters = codePointCount(value);
  if (characters < charactersMin || characters > charactersMax) {
    return invalid('id', `must have ${charactersMin} to ${charactersMax} characters`);
  }
  if (forbidden.test(value)) return invalid('id', 'must not contain any of # / \\ + ? [ ] | & = % < > { } ^');
  if (control.test(value)) return invalid('id', 'must not contain control characters');
  if (!isWellFormed(value)) return invalid('id', 'must be well-formed Unicode');
  return valid(value);
}

const scope = { variables: ['data'], aliases: true } as const;

/**
 * The source of an id: either a plain id, or an expression over the data. The expression may draw a random alias. All
 * draws in a request share one budget. Threat: a caller sends an expression whose possible aliases are all in use, so
 * that the vault draws again and again. Without a shared budget, one request could do the work of many requests.
 */
export type IdSource =
  | { readonly kind: 'given'; readonly id: string }
  | { readonly kind: 'expression'; readonly source: string; readonly random: boolean; readonly budget: Budget };

/**
 * Determines whether an id is plain or an expression, and checks it. Does not evaluate the expression. See
 * docs/contract.md, "Token ids".
 */
export function checkIdSource(expressions: Expressions, id: string): Checked<IdSource> {
  if (!id.includes('{{') && !id.includes('}}') && !id.includes('{%')) {
    const checked = checkId(id);
    return checked.ok ? valid({ kind: 'given', id }) : checked;
  }
  const parsed = expressions.parse(id, scope);
  if (!parsed.ok) return invalid('id', parsed.message);
  return valid({ kind: 'expression', source: id, random: parsed.expression.random, budget: createBudget() });
}

/** Returns the plain id, or the result of evaluating the expression. */
export function* evaluateId(
  expressions: Expressions,
  id: IdSource,
  data: Json,
  random: RandomBelow,
): Steps<Checked<string>> {
  if (id.kind === 'given') return valid(id.id);
  const parsed = expressions.parse(id.source, scope);
  if (!parsed.ok) return invalid('id', parsed.message);
  const evaluated = yield* expressions.evaluating(parsed.expression, { data }, { random, budget: id.budget });
  if (!evaluated.ok) return invalid('id', evaluated.message);
  const { value } = evaluated;
  if (value === null) return invalid('id', 'evaluates to nothing; it must give an id');
  const checked = checkId(typeof value === 'number' || typeof value === 'boolean' ? String(value) : value);
  if (checked.ok) return checked;
  const [message = 'is not valid'] = checked.errors['id'] ?? [];
  return invalid('id', `the id it evaluates to ${message}`);
}
