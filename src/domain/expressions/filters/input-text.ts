import type { Json } from '../../json.js';
import { spendWork } from '../budget.js';
import { jsonSize } from '../json-size.js';
import { limits } from '../limits.js';
import type { Refusal } from '../refusal.js';
import type { Scope } from '../scope.js';
import { textOf, tooBig } from '../text-of.js';

/**
 * The input of a filter as text. The JSON text of an object or array is measured and then made, and members are slower
 * to come by than characters, so it counts as work twice, also when it is refused.
 */
export function inputText(input: Json, { budget }: Scope): string | null | Refusal {
  if (typeof input !== 'object' || input === null) return textOf(input);
  const size = jsonSize(input, limits.resultBytesMax);
  spendWork(budget, 2 * size);
  return size > limits.resultBytesMax ? tooBig() : JSON.stringify(input);
}
