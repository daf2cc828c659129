import { runAt } from './characters.js';
import { QueryError } from './query-error.js';
import { readField } from './read-field.js';
import { readQuoted } from './read-quoted.js';
import type { TextValue, Token, Value } from './token.js';

const signs: Readonly<Record<string, 'open' | 'close' | 'not'>> = { '(': 'open', ')': 'close', '!': 'not', '-': 'not' };
const words: Readonly<Record<string, 'and' | 'or' | 'not'>> = { AND: 'and', OR: 'or', NOT: 'not' };

/** Splits a query into tokens with their positions. A field and its value are one token. Throws QueryError. */
export function lex(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const { token, end } = readToken(text, at);
    tokens.push(token);
    at = end;
  }
  return [...tokens, { is: 'end', at: text.length }];
}

function skipSpace(text: string, at: number): number {
  return at + runAt(text, at, 'space').length;
}

function readToken(text: string, at: number): { readonly token: Token; readonly end: number } {
  const sign = signs[text.charAt(at)];
  if (sign !== undefined) return { token: { is: sign, at }, end: at + 1 };
  const run = runAt(text, at, 'name');
  const end = at + run.length;
  const word = Object.hasOwn(words, run) && text.charAt(end) !== ':' ? words[run] : undefined;
  if (word !== undefined) return { token: { is: word, at }, end };
  return readTerm(text, at, run);
}

function readTerm(text: string, at: number, run: string) {
  const { field, end: valueAt } = readField(text, at, run);
  const { value, end } = readValue(text, valueAt);
  const next = text.charAt(end);
  if (next !== '' && next !== ')' && runAt(text, end, 'space') === '') throw new QueryError(unexpectedIn(value), end);
  return { token: { is: 'term', field, value, at } as const, end };
}

function unexpectedIn(value: { readonly is: string; readonly quoted?: boolean }): string {
  return value.is === 'text' && value.quoted === false
    ? 'this character is only allowed in a value in double quotes'
    : 'a space is missing after the value';
}

type Read<T> = { readonly value: T; readonly end: number };

/** Reads the value after a colon: a text, a quoted text or a range. Throws QueryError. */
function readValue(text: string, at: number): Read<Value> {
  const first = text.charAt(at);
  if (first === '[' || first === '{') return readRange(text, at);
  const read = readText(text, at);
  if (read !== null) return read;
  const missing = first === '' || first === ')' || runAt(text, at, 'space') !== '';
  throw new QueryError(missing ? 'a value is missing after the colon' : 'a value with this character needs quotes', at);
}

function readText(text: string, at: number): Read<TextValue> | null {
  if (text.charAt(at) === '"') {
    const { text: quoted, end } = readQuoted(text, at);
    return { value: { is: 'text', text: quoted, quoted: true, at }, end };
  }
  const plain = runAt(text, at, 'value');
  return plain === '' ? null : { value: { is: 'text', text: plain, quoted: false, at }, end: at + plain.length };
}

function readRange(text: string, at: number): Read<Value> {
  const from = readEnd(text, skip(text, at + 1));
  const wordAt = skip(text, from.end);
  const word = runAt(text, wordAt, 'name');
  if (word !== 'TO' || wordAt === from.end) throw new QueryError(rangeMessage(word), wordAt);
  const toAt = skip(text, wordAt + word.length);
  if (toAt === wordAt + word.length) throw new QueryError(rangeShape, toAt);
  const to = readEnd(text, toAt);
  const closeAt = skip(text, to.end);
  const close = text.charAt(closeAt);
  if (close !== ']' && close !== '}') throw new QueryError('a range is closed with ] or }', closeAt);
  return {
    value: {
      ...{ is: 'range', from: from.value, to: to.value, at },
      ...{ fromIncluded: text.charAt(at) === '[', toIncluded: close === ']' },
    },
    end: closeAt + 1,
  };
}

const rangeShape = 'a range is written [start TO end]';

function rangeMessage(word: string): string {
  return word.toUpperCase() === 'TO' && word !== 'TO' ? 'the TO of a range is written in capitals' : rangeShape;
}

function readEnd(text: string, at: number): Read<TextValue> {
  const read = readText(text, at);
  if (read === null) throw new QueryError('a range has a date or * at each end', at);
  return read;
}

function skip(text: string, at: number): number {
  return at + runAt(text, at, 'space').length;
}
