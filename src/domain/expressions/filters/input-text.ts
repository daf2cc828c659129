import type { Json } from '../../json.js';
import { spendWork } from '../budget.js';
import type { Refusal } from '../refusal.js';
import type { Scope } from '../scope.js';
import { textOf } from '../text-of.js';

/** The input of a filter as text; making the JSON text of an object or array counts as work. */
export function inputText(input: Json, scope: Scope): string | null | Refusal {
  const text = textOf(input);
  if (typeof input === 'object' && typeof text === 'string') spendWork(scope.budget, text.length);
  return text;
}
