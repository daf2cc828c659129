import type { Json } from '../json.js';
import { jsonSize } from './json-size.js';
import { limits } from './limits.js';
import { Refusal } from './refusal.js';

/**
 * Returns a value as text for filters and literal text: a string unchanged, null as null, and any other value as JSON
 * (the number 8.99 becomes `8.99`). Refuses a value whose text would be larger than 512 KiB, and measures the text
 * before building it.
 */
export function textOf(value: Json): string | null | Refusal {
  if (typeof value === 'string' || value === null) return value;
  if (typeof value === 'object' && jsonSize(value, limits.resultBytesMax) > limits.resultBytesMax) return tooBig();
  return JSON.stringify(value);
}

export function tooBig(): Refusal {
  return new Refusal('the result of a filter would be over 512 KiB');
}
