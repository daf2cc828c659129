import { runAt } from './characters.js';
import { QueryError } from './query-error.js';
import { readQuoted } from './read-quoted.js';
import type { TextValue, Value } from './token.js';

type Read<T> = { readonly value: T; readonly end: number };

/** Reads the value that begins right after a colon: a text, a text in quotes or a range. Throws QueryError. */
export function readValue(text: string, at: number): Read<Value> {
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
