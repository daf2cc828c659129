import { createExpressions } from '#src/domain/expressions/expressions.js';
import type { Json } from '#src/domain/json.js';

/**
 * Evaluates an expression as if it were for a token's id: only `data` is available, aliases are allowed, and the random
 * digits are fixed.
 */
export function evaluate(source: string, data: Json): Json | { refused: string } {
  const expressions = createExpressions();
  const parsed = expressions.parse(source, { variables: ['data'], aliases: true });
  if (!parsed.ok) return { refused: parsed.message };
  const evaluated = expressions.evaluate(parsed.expression, { data }, { random: counting() });
  return evaluated.ok ? evaluated.value : { refused: evaluated.message };
}

/**
 * Returns what a masked read shows. The result is `undefined` if the data is redacted, and `{ refused }` if the mask is
 * rejected when the token is created.
 */
export function mask(source: Json, data: Json): Json | { refused: unknown } | undefined {
  const expressions = createExpressions();
  const checked = expressions.parseMask(source);
  if (!checked.ok) return { refused: checked.errors };
  const masked = expressions.evaluateMask(source, { data });
  return masked.redacted ? undefined : masked.data;
}

export function counting(): (maxExclusive: number) => number {
  let next = 0;
  return (maxExclusive) => next++ % maxExclusive;
}

export function isRefused(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'refused');
}
