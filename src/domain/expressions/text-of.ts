import type { Json } from '../json.js';
import { jsonSize } from './json-size.js';
import { limits } from './limits.js';
import { Refusal } from './refusal.js';

/**
 * Returns a value as text for filters and literal text: a string unchanged, null as null, and any other value as JSON
 * (8.99 is `8.99`, true is `true`). Refuses text of more than 512 KiB, which it measures before building.
 */
export function textOf(value: Json): string | null | Refusal {
  if (typeof value === 'string' || value === null) return value;
  if (typeof value === 'object' && jsonSize(value, limits.resultBytesMax) > limits.resultBytesMax) return tooBig();
  return JSON.stringify(value);
}

export function tooBig(): Refusal {
  return new Refusal('the result of a filter would be over 512 KiB');
}
