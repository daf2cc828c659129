import { z } from 'zod';
import type { Json } from '../../domain/json.js';

/** Any JSON. The domain checks the value. */
export const anyJson = z.custom<Json>(() => true);

export const text = z.string({ error: required('must be a string') });

/** The option of `z.object` for a body. */
export const anObject = { error: 'must be a JSON object' };

/**
 * Returns the `error` option for the schema of a required field. The error of a missing field is `is required`. The
 * error of any other invalid value is `mustBe`.
 */
export function required(mustBe: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? 'is required' : mustBe);
}
