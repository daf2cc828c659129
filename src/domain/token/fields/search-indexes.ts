import type { Budget } from '../../expressions/budget.js';
import type { Expressions, Variables } from '../../expressions/expressions.js';
import { type Checked, errorsOf, invalid, valid } from '../../field-errors.js';
import type { Steps } from '../../steps.js';
import { codePointCount } from '../../text.js';

export const indexesMax = 10;
const expressionCharactersMax = 400;
const resultCharactersMax = 500;
const scope = { variables: ['data'] } as const;

/**
 * Checks the number, length and syntax of the index expressions, without evaluating them. See docs/contract.md, "Search
 * indexes".
 */
export function checkSearchIndexes(expressions: Expressions, sources: readonly string[]): Checked<null> {
  if (sources.length > indexesMax) return invalid('search_indexes', `must contain at most ${indexesMax} expressions`);
  const errors = errorsOf(
    sources.map((source, i) => {
      const path = `search_indexes[${i}]`;
      if (codePointCount(source) > expressionCharactersMax) {
        return invalid(path, `must have at most ${expressionCharactersMax} characters`);
      }
      const parsed = expressions.parse(source, scope);
      return parsed.ok ? valid(null) : invalid(path, parsed.message);
    }),
  );
  return errors === null ? valid(null) : { ok: false, errors };
}

/**
 * Evaluates each index expression, and returns the results as text. Rejects a result that is null, empty text, an array
 * or an object. See docs/contract.md, "Search indexes".
 */
export function* evaluateSearchIndexes(
  expressions: Expressions,
  sources: readonly string[],
  { data }: Variables,
  budget: Budget,
): Steps<Checked<readonly string[]>> {
  const evaluated: Checked<string>[] = [];
  for (const [i, source] of sources.entries()) {
    evaluated.push(yield* evaluateOne(expressions, source, data, budget, `search_indexes[${i}]`));
  }
  const errors = errorsOf(evaluated);
  return errors === null ? valid(evaluated.flatMap((one) => (one.ok ? [one.value] : []))) : { ok: false, errors };
}

function* evaluateOne(
  expressions: Expressions,
  source: string,
  data: Variables['data'],
  budget: Budget,
  path: string,
): Steps<Checked<string>> {
  const parsed = expressions.parse(source, scope);
  if (!parsed.ok) return invalid(path, parsed.message);
  const evaluated = yield* expressions.evaluating(parsed.expression, { data }, { budget });
  if (!evaluated.ok) return invalid(path, evaluated.message);
  const { value } = evaluated;
  if (value === null || value === '') return invalid(path, 'evaluates to nothing; it must give a value to search for');
  if (typeof value === 'object') return invalid(path, 'must evaluate to a string, a number or a boolean');
  const text = String(value);
  if (codePointCount(text) > resultCharactersMax) {
    return invalid(path, `must evaluate to at most ${resultCharactersMax} characters`);
  }
  return valid(text);
}
