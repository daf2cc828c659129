import { createExpressions, type Expressions } from '#src/domain/expressions/expressions.js';
import type { Json } from '#src/domain/json.js';
import { finish } from '#src/domain/steps.js';

/** Evaluates an expression without a pause. */
export function runExpression({ evaluating }: Expressions, ...given: Parameters<Expressions['evaluating']>) {
  return finish(evaluating(...given));
}

/** Evaluates a mask without a pause. */
export function runMask({ masking }: Expressions, ...given: Parameters<Expressions['masking']>) {
  return finish(masking(...given));
}

/**
 * Evaluates an expression as if it were for a token's id: only `data` is available, aliases are allowed, and the random
 * digits are fixed.
 */
export function evaluate(source: string, data: Json): Json | { refused: string } {
  const expressions = createExpressions();
  const parsed = expressions.parse(source, { variables: ['data'], aliases: true });
  if (!parsed.ok) return { refused: parsed.message };
  const evaluated = runExpression(expressions, parsed.expression, { data }, { random: counting() });
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
  const masked = runMask(expressions, source, { data });
  return masked.redacted ? undefined : masked.data;
}

export function counting(): (maxExclusive: number) => number {
  let next = 0;
  return (maxExclusive) => next++ % maxExclusive;
}

export function isRefused(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'refused');
}
