import { type Budget, createBudget, take } from '../expressions/budget.js';
import type { Expressions } from '../expressions/expressions.js';
import { isJsonArray } from '../expressions/json-array.js';
import { jsonSize } from '../expressions/json-size.js';
import { Refusal } from '../expressions/refusal.js';
import { textOf } from '../expressions/text-of.js';
import { type Checked, valid } from '../field-errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { itemPath, memberPath } from '../json-path.js';
import type { Leaf, Slot, Template } from './parse-template.js';

/** What the caller may see of a token: null where it sees nothing. `whole` is its token object. */
export type Shown = { readonly data: Json; whole(): JsonObject | null };

const resultBytesMax = 8 * 1024 * 1024;
const workBytesMax = 64 * 1024 * 1024;
const errorsMax = 20;

/**
 * The body with the value of every expression in its place: of a lone one the JSON value, in a text its text, where null
 * is nothing. One pass: what comes out of a token is never looked at again. All values together take at most 8 MiB.
 * What cannot be evaluated is an error at its path. Contract, section 9.
 */
export function fillTemplate(
  expressions: Expressions,
  { body, leaves }: Template,
  shownOf: (id: string) => Shown,
): Checked<Json> {
  const budget = createBudget(resultBytesMax, workBytesMax);
  const errors = new Map<string, readonly string[]>();

  function fill(value: Json, path: string): Json {
    if (errors.size >= errorsMax) return null;
    if (isJsonArray(value)) return value.map((item, index) => fill(item, itemPath(path, index)));
    if (isJsonObject(value)) {
      const members = Object.entries(value).map(([key, item]) => [key, fill(item, memberPath(path, key))] as const);
      return Object.fromEntries(members);
    }
    const leaf = typeof value === 'string' ? leaves.get(value) : undefined;
    if (leaf === undefined) return value;
    const filled = fillLeaf(leaf, (slot) => evaluate(expressions, slot, shownOf(slot.id), budget));
    if (!(filled instanceof Refusal)) return filled;
    errors.set(path === '' ? 'body' : path, [filled.message]);
    return null;
  }

  const filled = fill(body, '');
  return errors.size === 0 ? valid(filled) : { ok: false, errors: Object.fromEntries(errors) };
}

function fillLeaf(leaf: Leaf, evaluateSlot: (slot: Slot) => Json | Refusal): Json | Refusal {
  const [only] = leaf;
  if (leaf.length === 1 && only?.kind === 'slot') return evaluateSlot(only);
  let text = '';
  for (const part of leaf) {
    const value = part.kind === 'text' ? part.text : evaluateSlot(part);
    const piece = value instanceof Refusal ? value : part.kind === 'text' ? part.text : textOf(value);
    if (piece instanceof Refusal) return piece;
    text += piece ?? '';
  }
  return text;
}

/** Threat: filters over the stored value would be an oracle for masked callers, so they see what the caller sees. */
function evaluate(
  expressions: Expressions,
  { whole, filters, character }: Slot,
  shown: Shown,
  budget: Budget,
): Json | Refusal {
  const value = whole ? shown.whole() : shown.data;
  if (value === null) return null;
  if (filters === null) {
    const fits = take(budget, jsonSize(value, budget.remainingBytes));
    return fits ? value : new Refusal(`the values of all expressions take more than ${resultBytesMax} bytes`);
  }
  const evaluated = expressions.evaluate(filters, { data: value }, { budget });
  if (evaluated.ok) return evaluated.value;
  return new Refusal(`the expression at character ${character} cannot be evaluated: ${evaluated.message}`);
}
