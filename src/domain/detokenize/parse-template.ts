import type { Expression } from '../expressions/expression.js';
import type { Expressions } from '../expressions/expressions.js';
import { bracesAfter } from '../expressions/parse.js';
import { type Checked, invalid, valid } from '../field-errors.js';
import type { Json } from '../json.js';
import { replaceValues } from '../replace-values.js';
import type { Steps } from '../steps.js';

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

/** Reads every text of a body, once; no object key is looked at. See docs/contract.md, "Detokenize". */
export function* parseTemplate(expressions: Expressions, body: Json): Steps<Checked<Template>> {
  const leaves = new Map<string, Leaf>();
  const ids = new Map<string, string>();
  const errors = new Map<string, readonly string[]>();
  let slots = 0;
  const isOver = () => errors.size >= errorsMax || ids.size > idsMax || slots > slotsMax;

  function read(text: string, pathOf: () => string): void {
    if (isOver() || !/\{\{|\}\}/.test(text)) return;
    const leaf = leaves.get(text) ?? parseLeaf(expressions, text);
    const path = pathOf() || 'body';
    if (typeof leaf === 'string') {
      errors.set(path, [leaf]);
      return;
    }
    leaves.set(text, leaf);
    for (const part of leaf) {
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
  return errors.size === 0 ? valid({ body, leaves, ids }) : { ok: false, errors: Object.fromEntries(errors) };
}

/** The compiled text, or what is wrong with it. */
function parseLeaf(expressions: Expressions, text: string): Leaf | string {
  const split = splitLeaf(text);
  if (!split.ok) return split.message;
  const leaf: Leaf[number][] = [];
  for (const part of split.parts) {
    if (part.kind === 'text') leaf.push(part);
    else {
      const { id, whole, character } = part;
      const filters = part.filters === null ? null : expressions.parseFilters(part.filters);
      if (filters !== null && !filters.ok) return `the expression at character ${character} ${filters.message}`;
      leaf.push({ kind: 'slot', id, whole, character, filters: filters?.expression ?? null });
    }
  }
  return leaf;
}

/** An expression of detokenize: a token's data, or with `whole` its token object, and what its filters are. */
type Reference = {
  readonly kind: 'reference';
  readonly id: string;
  readonly whole: boolean;
  /** What follows the first `|`; null without one. */
  readonly filters: string | null;
  /** Counts from 1 in the text. */
  readonly character: number;
};

type LeafPart = { readonly kind: 'text'; readonly text: string } | Reference;

type SplitLeaf =
  | { readonly ok: true; readonly parts: readonly LeafPart[] }
  /** `message` names a character and never repeats the text. */
  | { readonly ok: false; readonly message: string };

/**
 * Splits a text into literal text and expressions (docs/contract.md, "Detokenize"). An id may hold apostrophes, quotes
 * and
 * hyphens, so nothing before the first `|` is read as Liquid: it ends at `|` or `}}`, and white space around it does not
 * count. After the `|` quotes are honoured.
 */
export function splitLeaf(text: string): SplitLeaf {
  const parts: LeafPart[] = [];
  let at = 0;
  let openBraces = 0;
  for (let start = text.indexOf('{{'); start !== -1; start = text.indexOf('{{', at)) {
    openBraces = addText(parts, text.slice(at, start), openBraces);
    const end = openBraces < 0 ? -1 : headEnd(text, start + 2);
    if (end === -1) return unbalanced(start);
    const isFiltered = text[end] === '|';
    const close = isFiltered ? closeAfter(text, end + 1) : end;
    if (close === 'open quote') return { ok: false, message: `there is a quote that does not end${place(start)}` };
    if (close === 'unbalanced') return unbalanced(start);
    const head = text.slice(start + 2, end).trim();
    if (head === '') return { ok: false, message: `the expression${place(start)} names no token` };
    const id = head.replace(/^token:\s+/u, '');
    const filters = isFiltered ? text.slice(end + 1, close) : null;
    parts.push({ kind: 'reference', id, whole: id !== head, filters, character: start + 1 });
    at = close + 2;
  }
  return addText(parts, text.slice(at), openBraces) < 0 ? unbalanced(at) : { ok: true, parts };
}

/** Answers how many braces of the text are open after it; below 0 for a `}}` that closes nothing. */
function addText(parts: LeafPart[], text: string, openBraces: number): number {
  if (text !== '') parts.push({ kind: 'text', text });
  return bracesAfter(text, openBraces);
}

/** Where the `|` or the `}}` after the id stands; -1 when another brace comes first, or nothing. */
function headEnd(text: string, from: number): number {
  const ending = /[|{}]/g;
  ending.lastIndex = from;
  const end = ending.exec(text)?.index ?? -1;
  return text[end] === '|' || text.startsWith('}}', end) ? end : -1;
}

function closeAfter(text: string, from: number): number | 'open quote' | 'unbalanced' {
  for (let i = from; i < text.length; i += 1) {
    if (text.startsWith('}}', i)) return i;
    if (text.startsWith('{{', i)) return 'unbalanced';
    const one = text[i];
    if (one !== "'" && one !== '"') continue;
    i = quoteEnd(text, one, i + 1);
    if (i === -1) return 'open quote';
  }
  return 'unbalanced';
}

function quoteEnd(text: string, quote: string, from: number): number {
  for (let i = from; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === quote) return i;
  }
  return -1;
}

function unbalanced(index: number): SplitLeaf {
  return { ok: false, message: `there are unbalanced braces${place(index)}` };
}

function place(index: number): string {
  return ` at character ${index + 1}`;
}
