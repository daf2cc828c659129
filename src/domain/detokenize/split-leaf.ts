import { bracesAfter } from '../expressions/parsing/braces-after.js';

/** An expression of detokenize: a token's data, or with `whole` its token object, and what its filters are. */
export type Reference = {
  readonly kind: 'reference';
  readonly id: string;
  readonly whole: boolean;
  /** What follows the first `|`; null without one. */
  readonly filters: string | null;
  /** Counts from 1 in the text. */
  readonly character: number;
};

export type LeafPart = { readonly kind: 'text'; readonly text: string } | Reference;

export type SplitLeaf =
  | { readonly ok: true; readonly parts: readonly LeafPart[] }
  /** `message` names a character and never repeats the text. */
  | { readonly ok: false; readonly message: string };

/**
 * Splits a text into literal text and expressions (contract, section 9). An id may hold apostrophes, quotes and
 * hyphens, so nothing before the first `|` is read as Liquid: it ends at `|` or `}}`, and white space around it does not
 * count. After the `|` quotes are honoured. A text with more than `referencesMax` expressions is split no further.
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
    if (close === 'open quote') return { ok: false, message: `there is a quote that does not end${place(start)}` };
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
