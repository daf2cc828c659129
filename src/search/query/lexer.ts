import { runAt } from './characters.js';
import { QueryError } from './query-error.js';
import { readField } from './read-field.js';
import { readValue } from './read-value.js';
import type { Token } from './token.js';

const signs: Readonly<Record<string, 'open' | 'close' | 'not'>> = { '(': 'open', ')': 'close', '!': 'not', '-': 'not' };
const words: Readonly<Record<string, 'and' | 'or' | 'not'>> = { AND: 'and', OR: 'or', NOT: 'not' };

/** Cuts a query into tokens with their positions; a field and its value are one. Throws QueryError. */
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
