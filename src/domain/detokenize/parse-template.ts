import type { Expression } from '../expressions/expression.js';
import type { Expressions } from '../expressions/expressions.js';
import { bracesAfter } from '../expressions/parse.js';
import { type Checked, invalid, valid } from '../field-errors.js';
import type { Json } from '../json.js';
import { replaceValues } from '../replace-values.js';
import type { Steps } from '../steps.js';

/** One compiled expression in a string. */
export type Slot = {
  readonly kind: 'slot';
  readonly id: string;
  readonly whole: boolean;
  /** Null if the expression has no filters. Such an expression returns the value unchanged. */
  readonly filters: Expression | null;
  readonly character: number;
};

/** A string that contains expressions, split into its literal text and its compiled expressions. */
export type Leaf = readonly ({ readonly kind: 'text'; readonly text: string } | Slot)[];

/** A parsed detokenize body, the strings in it that contain expressions, and the first path at which each id occurs. */
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
 * Parses the strings in a body in one pass. Object keys are not parsed. See docs/contract.md, "Detokenize". Threat: a
 * caller sends a single 4 MiB string with 200,000 expressions. This function therefore counts the expressions before it
 * compiles any of them, and compiles each one in its own step.
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

/** Returns the compiled parts of a string, or an error message. */
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

/**
 * An expression in a detokenize body, before its filters are compiled. It stands for a token's data or, if `whole` is
 * true, for the token object.
 */
type Reference = {
  readonly kind: 'reference';
  readonly id: string;
  readonly whole: boolean;
  /** The text after the first `|`, or null if there is no `|`. */
  readonly filters: string | null;
  /** The position of the expression in the string, counted from 1. */
  readonly character: number;
};

type LeafPart = { readonly kind: 'text'; readonly text: string } | Reference;

type SplitLeaf =
  | { readonly ok: true; readonly parts: readonly LeafPart[] }
  /** The message may contain a position, but never text from the body. */
  | { readonly ok: false; readonly message: string };

/**
 * Splits a string into literal text and expressions (docs/contract.md, "Detokenize"). An id may contain apostrophes,
 * quotes and hyphens, so the text before the first `|` is not parsed as Liquid. The id ends at `|` or `}}`, and
 * surrounding white space is removed. Quotes have a special meaning only after the `|`.
 */
export function splitLeaf(text: string, referencesMax = Number.POSITIVE_INFINITY): SplitLeaf {
  const parts: LeafPart[] = [];
  let at = 0;
  let openBraces = 0;
  let references = 0;
  for (let start = text.indexOf('{{'); start !== -1; start = text.indexOf('{{', at)) {
    openBraces = addText(parts, text.slice(at, start), openBraces);
    const end = openBraces < 0 ? -1 : headEnd(text, start + 2);
    if (end === -1) return unbalanced(start);
    const isFiltered = text[end] === '|';
    const close = isFiltered ? closeAfter(text, end + 1) : end;
    if (close === 'open quote') return { ok: false, message: `a quote is not closed${place(start)}` };
    if (close === 'unbalanced') return unbalanced(start);
    const head = text.slice(start + 2, end).trim();
    if (head === '') return { ok: false, message: `the expression${place(start)} names no token` };
    const id = head.replace(/^token:\s+/u, '');
    const filters = isFiltered ? text.slice(end + 1, close) : null;
    parts.push({ kind: 'reference', id, whole: id !== head, filters, character: start + 1 });
    references += 1;
    if (references > referencesMax) return { ok: true, parts };
    at = close + 2;
  }
  return addText(parts, text.slice(at), openBraces) < 0 ? unbalanced(at) : { ok: true, parts };
}

/**
 * Appends literal text. Returns how many braces are open at the end of the text. Returns a negative number if a `}}` in
 * the text closes more braces than are open.
 */
function addText(parts: LeafPart[], text: string, openBraces: number): number {
  if (text !== '') parts.push({ kind: 'text', text });
  return bracesAfter(text, openBraces);
}

/**
 * Returns the position of the `|` or `}}` after the id. Returns -1 if a different brace comes first, or if neither `|`
 * nor `}}` follows.
 */
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
