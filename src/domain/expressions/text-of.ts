import type { Json } from '../json.js';
import { jsonSize } from './json-size.js';
import { limits } from './limits.js';
import { Refusal } from './refusal.js';

/**
 * Returns a value as text for filters and literal text. A string or null stays unchanged, and any other value becomes
 * JSON (the number 8.99 becomes `8.99`). Refuses a value whose text would be larger than 512 KiB. The size is measured
 * before the text is built.
 */
export function textOf(value: Json): string | null | Refusal {
  if (typeof value === 'string' || value === null) return value;
  if (typeof value === 'object' && jsonSize(value, limits.resultBytesMax) > limits.resultBytesMax) return tooBig();
  return JSON.stringify(value);
}

export function tooBig(): Refusal {
  return new Refusal('the result of a filter would be over 512 KiB');
}
