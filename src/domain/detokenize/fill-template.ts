import { type Budget, createBudget, take } from '../expressions/budget.js';
import type { Expressions } from '../expressions/expressions.js';
import { jsonSize } from '../expressions/json-size.js';
import { Refusal } from '../expressions/refusal.js';
import { textOf } from '../expressions/text-of.js';
import { type Checked, valid } from '../field-errors.js';
import type { Json, JsonObject } from '../json.js';
import { replaceValues } from '../replace-values.js';
import type { Steps } from '../steps.js';
import type { Leaf, Slot, Template } from './parse-template.js';

/**
 * The parts of a token that the caller may see. `data` is null if the caller may not see the data. `whole` is the token
 * object, or null if the caller may not see it. `skipped` means that the mask was not evaluated, because the masks of
 * other tokens in the request had used up the budget.
 */
export type Shown = { readonly data: Json; readonly whole: JsonObject | null } | 'skipped';

/** An expression's value, and the size of its JSON in bytes. */
export type Filled = { readonly value: Json; readonly bytes: number } | Refusal;

const resultBytesMax = 8 * 1024 * 1024;
const workBytesMax = 32 * 1024 * 1024;
const errorsMax = 20;

/** Creates the budget that all expressions in one request share. */
export function templateBudget(): Budget {
  return createBudget(resultBytesMax, workBytesMax);
}

/**
 * Evaluates one expression of a template. Its filters read only the parts of the token that the caller may see. Threat:
 * if filters could read the stored value, a caller that sees only the masked value could use them as an oracle.
 */
export function* evaluateSlot(
  expressions: Expressions,
  { whole, filters, character }: Slot,
  shown: Shown,
  budget: Budget,
): Steps<Filled> {
  if (shown === 'skipped') {
    return new Refusal('the masks of these tokens together take too much work; detokenize fewer tokens per request');
  }
  const value = whole ? shown.whole : shown.data;
  if (value === null || filters === null) return { value, bytes: jsonSize(value, resultBytesMax) };
  const evaluated = yield* expressions.evaluating(filters, { data: value }, { budget });
  if (evaluated.ok) return { value: evaluated.value, bytes: jsonSize(evaluated.value, resultBytesMax) };
  return new Refusal(`the expression at character ${character} cannot be evaluated: ${evaluated.message}`);
}

/**
 * Returns the body with each expression replaced by its value. A string that consists of a single expression is
 * replaced by the JSON value. In any other string, the value is inserted as text. A null value becomes an empty string.
 * The body is filled in a single pass, so a token's value is never parsed for expressions. The combined size of all
 * values is limited to 8 MiB. An expression that cannot be evaluated causes an error at the path of its string. See
 * docs/contract.md, "Detokenize".
 */
export function* fillTemplate({ body, leaves }: Template, filledOf: (slot: Slot) => Filled): Steps<Checked<Json>> {
  const errors = new Map<string, readonly string[]>();
  const budget = createBudget(resultBytesMax);

  const valueIn = (slot: Slot): Json | Refusal => {
    const filled = filledOf(slot);
    if (filled instanceof Refusal) return filled;
    if (take(budget, filled.bytes)) return filled.value;
    return new Refusal(`the values of all expressions take more than ${resultBytesMax} bytes`);
  };

  const filled = yield* replaceValues(body, (value, pathOf) => {
    if (errors.size >= errorsMax) return null;
    const leaf = typeof value === 'string' ? leaves.get(value) : undefined;
    if (leaf === undefined) return undefined;
    const replaced = fillLeaf(leaf, valueIn);
    if (!(replaced instanceof Refusal)) return replaced;
    const path = pathOf();
    errors.set(path === '' ? 'body' : path, [replaced.message]);
    return null;
  });
  return errors.size === 0 ? valid(filled) : { ok: false, errors: Object.fromEntries(errors) };
}

function fillLeaf(leaf: Leaf, valueIn: (slot: Slot) => Json | Refusal): Json | Refusal {
  const [only] = leaf;
  if (leaf.length === 1 && only?.kind === 'slot') return valueIn(only);
  let text = '';
  for (const part of leaf) {
    const value = part.kind === 'text' ? part.text : valueIn(part);
    const piece = value instanceof Refusal || part.kind === 'text' ? value : textOf(value);
    if (piece instanceof Refusal) return piece;
    text += piece ?? '';
  }
  return text;
}
