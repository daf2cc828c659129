import type { Expression } from '../expressions/expression.js';
import type { Expressions } from '../expressions/expressions.js';
import { type Checked, invalid, valid } from '../field-errors.js';
import type { Json } from '../json.js';
import { replaceValues } from '../replace-values.js';
import type { Steps } from '../steps.js';
import { type LeafPart, splitLeaf } from './split-leaf.js';

/** One expression of a text, compiled. */
export type Slot = {
  readonly kind: 'slot';
  readonly id: string;
  readonly whole: boolean;
  /** null: the value as it is. */
  readonly filters: Expression | null;
  readonly character: number;
};

/** The parts of a text that holds an expression. */
export type Leaf = readonly ({ readonly kind: 'text'; readonly text: string } | Slot)[];

/** A body of detokenize: its texts that hold expressions, and the path at which each id comes first. */
export type Template = {
  readonly body: Json;
  readonly leaves: ReadonlyMap<string, Leaf>;
  readonly ids: ReadonlyMap<string, string>;
};

const idsMax = 100;
const slotsMax = 1_000;
const errorsMax = 20;

type Text = { readonly parts: readonly LeafPart[]; readonly paths: string[] };

/**
 * Reads every text of a body, once; no object key is looked at. Contract, section 9. Threat: a single text of 4 MiB holds
 * 200,000 expressions, so nothing is compiled before they are counted, and then one in a step.
 */
export function* parseTemplate(expressions: Expressions, body: Json): Steps<Checked<Template>> {
  const texts = new Map<string, Text>();
  const ids = new Map<string, string>();
  const errors = new Map<string, readonly string[]>();
  let slots = 0;
  const isOver = () => errors.size >= errorsMax || ids.size > idsMax || slots > slotsMax;

  function read(text: string, pathOf: () => string): void {
    if (isOver() || !/\{\{|\}\}/.test(text)) return;
    const known = texts.get(text);
    const split = known === undefined ? splitLeaf(text, slotsMax) : { ok: true as const, parts: known.parts };
    const path = pathOf() || 'body';
    if (!split.ok) {
      errors.set(path, [split.message]);
      return;
    }
    if (known === undefined) texts.set(text, { parts: split.parts, paths: [path] });
    else known.paths.push(path);
    for (const part of split.parts) {
      if (part.kind === 'text') continue;
      slots += 1;
      if (!ids.has(part.id)) ids.set(part.id, path);
    }
  }

  yield* replaceValues(body, (value, pathOf) => {
    if (typeof value === 'string') read(value, pathOf);
    return undefined;
  });
  if (ids.size > idsMax) return invalid('body', `must name at most ${idsMax} tokens`);
  if (slots > slotsMax) return invalid('body', `must have at most ${slotsMax} expressions`);
  const leaves = new Map<string, Leaf>();
  for (const [text, { parts, paths }] of texts) {
    if (errors.size >= errorsMax) break;
    const leaf = yield* compile(expressions, parts);
    if (typeof leaf !== 'string') leaves.set(text, leaf);
    else for (const path of paths.slice(0, errorsMax - errors.size)) errors.set(path, [leaf]);
  }
  return errors.size === 0 ? valid({ body, leaves, ids }) : { ok: false, errors: Object.fromEntries(errors) };
}

/** The compiled text, or what is wrong with it. */
function* compile(expressions: Expressions, parts: readonly LeafPart[]): Steps<Leaf | string> {
  const leaf: Leaf[number][] = [];
  for (const part of parts) {
    if (part.kind === 'text') leaf.push(part);
    else {
      const { id, whole, character } = part;
      const filters = part.filters === null ? null : expressions.parseFilters(part.filters);
      if (filters !== null && !filters.ok) return `the expression at character ${character} ${filters.message}`;
      leaf.push({ kind: 'slot', id, whole, character, filters: filters?.expression ?? null });
      yield;
    }
  }
  return leaf;
}
