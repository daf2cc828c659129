import type { Json } from '../domain/json.js';
import { Problem } from './problem.js';

/** The body of a request that takes any JSON; 400 without one. The body parser has made it, so it is JSON. */
export function jsonBodyOf({ body }: { readonly body: unknown }): Json {
  if (body === undefined) throw new Problem('validation_failed', { body: ['is required'] });
  return body as Json;
}
