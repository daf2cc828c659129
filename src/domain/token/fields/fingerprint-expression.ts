import type { Budget } from '../../expressions/budget.js';
import type { Expressions, Variables } from '../../expressions/expressions.js';
import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Steps } from '../../steps.js';
import { codePointCount, isWellFormed } from '../../text.js';

const path = 'fingerprint_expression';
const charactersMax = 400;
const scope = { variables: ['data', 'metadata'] } as const;

/** Checks the expression itself, before anything is evaluated. Contract, section 3. */
export function checkFingerprintExpression(expressions: Expressions, source: string): Checked<null> {
  if (codePointCount(source) > charactersMax) return invalid(path, `must have at most ${charactersMax} characters`);
  const parsed = expressions.parse(source, scope);
  return parsed.ok ? valid(null) : invalid(path, parsed.message);
}

/** The value that is fingerprinted, as text: a string as it is, anything else as JSON. Null is refused. */
export function* evaluateFingerprint(
  expressions: Expressions,
  source: string,
  variables: Variables,
  budget: Budget,
): Steps<Checked<string>> {
  const parsed = expressions.parse(source, scope);
  if (!parsed.ok) return invalid(path, parsed.message);
  const evaluated = yield* expressions.evaluating(parsed.expression, variables, { budget });
  if (!evaluated.ok) return invalid(path, evaluated.message);
  if (evaluated.value === null) return invalid(path, 'evaluates to nothing; it must give a value to fingerprint');
  const { value } = evaluated;
  // UTF-8 would take all lone surrogates for one character, and unequal values for equal; JSON escapes them.
  return valid(typeof value === 'string' && isWellFormed(value) ? value : JSON.stringify(value));
}
