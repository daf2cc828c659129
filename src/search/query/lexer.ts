import { isNear, nearest } from '../../domain/nearest.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { QueryError } from './query-error.js';
import { dateFields, textFields } from './syntax-tree.js';

/** The fields other than metadata. */
const plainFields = [...textFields, 'container', ...dateFields] as const;

/** The field of a term. */
export type Field =
  | { readonly name: (typeof plainFields)[number] }
  | { readonly name: 'metadata'; readonly key: string };

export type TextValue = { readonly kind: 'text'; readonly text: string; readonly quoted: boolean; readonly at: number };

/** A value as written in the query. `at` is the index of its first character. */
export type Value =
  | TextValue
  | {
      readonly kind: 'range';
      readonly from: TextValue;
      readonly to: TextValue;
      readonly fromIncluded: boolean;
      readonly toIncluded: boolean;
      readonly at: number;
    };

/** A lexical token of a query. */
export type Token =
  | { readonly kind: 'open' | 'close' | 'and' | 'or' | 'not' | 'end'; readonly at: number }
  | { readonly kind: 'term'; readonly field: Field; readonly value: Value; readonly at: number };

const signs: Readonly<Record<string, 'open' | 'close' | 'not'>> = { '(': 'open', ')': 'close', '!': 'not', '-': 'not' };
const words: Readonly<Record<string, 'and' | 'or' | 'not'>> = { AND: 'and', OR: 'or', NOT: 'not' };

/**
 * Splits a query into lexical tokens with their positions. A field and its value together form one lexical token.
 * Throws QueryError if the text cannot be split.
 */
export function lex(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const { token, end } = readToken(text, at);
    tokens.push(token);
    at = end;
  }
  return [...tokens, { kind: 'end', at: text.length }];
}

function skipSpace(text: string, at: number): number {
  return at + runAt(text, at, 'space').length;
}

function readToken(text: string, at: number): { readonly token: Token; readonly end: number } {
  const sign = signs[text.charAt(at)];
  if (sign !== undefined) return { token: { kind: sign, at }, end: at + 1 };
  const run = runAt(text, at, 'name');
  const end = at + run.length;
  const word = Object.hasOwn(words, run) && text.charAt(end) !== ':' ? words[run] : undefined;
  if (word !== undefined) return { token: { kind: word, at }, end };
  return readTerm(text, at, run);
}

function readTerm(text: string, at: number, run: string) {
  const { field, end: valueAt } = readField(text, at, run);
  const { value, end } = readValue(text, valueAt);
  const next = text.charAt(end);
  if (next !== '' && next !== ')' && runAt(text, end, 'space') === '')
    throw new QueryError(unexpectedAfter(value), end);
  return { token: { kind: 'term', field, value, at } as const, end };
}

function unexpectedAfter(value: Value): string {
  return value.kind === 'text' && !value.quoted
    ? 'this character is only allowed in a value in double quotes'
    : 'a space is missing after the value';
}

type Read<T> = { readonly value: T; readonly end: number };

/**
 * Reads the value after a colon: an unquoted or quoted string, or a range. Throws QueryError if there is no valid
 * value.
 */
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
    return { value: { kind: 'text', text: quoted, quoted: true, at }, end };
  }
  const plain = runAt(text, at, 'value');
  return plain === '' ? null : { value: { kind: 'text', text: plain, quoted: false, at }, end: at + plain.length };
}

function readRange(text: string, at: number): Read<Value> {
  const from = readEnd(text, skipSpace(text, at + 1));
  const wordAt = skipSpace(text, from.end);
  const word = runAt(text, wordAt, 'name');
  if (word !== 'TO' || wordAt === from.end) throw new QueryError(rangeMessage(word), wordAt);
  const toAt = skipSpace(text, wordAt + word.length);
  if (toAt === wordAt + word.length) throw new QueryError(rangeShape, toAt);
  const to = readEnd(text, toAt);
  const closeAt = skipSpace(text, to.end);
  const close = text.charAt(closeAt);
  if (close !== ']' && close !== '}') throw new QueryError('a range must end with ] or }', closeAt);
  return {
    value: {
      kind: 'range',
      from: from.value,
      to: to.value,
      at,
      fromIncluded: text.charAt(at) === '[',
      toIncluded: close === ']',
    },
    end: closeAt + 1,
  };
}

const rangeShape = 'a range has the form [start TO end]';

function rangeMessage(word: string): string {
  return word.toUpperCase() === 'TO' && word !== 'TO' ? 'the TO of a range must be in capitals' : rangeShape;
}

function readEnd(text: string, at: number): Read<TextValue> {
  const read = readText(text, at);
  if (read === null) throw new QueryError('a range must have a date or * at each end', at);
  return read;
}

const metadataPrefix = 'metadata.';
const metadataField = 'metadata.<key>';
/**
 * An unknown name is cut to this length before it is compared with the field names. A longer name resembles no field,
 * and comparing all of it would take too long.
 */
const comparedLengthMax = 100;

/**
 * Reads a field name and the colon after it. `run` contains the name characters that begin at `at`. The returned `end`
 * is the index where the value starts. Throws QueryError for a bare word, an unknown field, or metadata without a key.
 */
function readField(text: string, at: number, run: string): { readonly field: Field; readonly end: number } {
  if (run === '') throw new QueryError(startMessage(text.charAt(at)), at);
  const end = at + run.length;
  if (run === metadataPrefix && text.charAt(end) === '"') {
    const { text: key, end: keyEnd } = readQuoted(text, end);
    if (text.charAt(keyEnd) !== ':')
      throw new QueryError('a metadata key must be followed by a colon and a value', keyEnd);
    return { field: { name: 'metadata', key: expectKey(key, end) }, end: keyEnd + 1 };
  }
  if (text.charAt(end) !== ':') throw new QueryError(bareWordMessage(run), at);
  if (run.startsWith(metadataPrefix)) {
    const key = expectKey(run.slice(metadataPrefix.length), end);
    return { field: { name: 'metadata', key }, end: end + 1 };
  }
  const name = plainFields.find((known) => known === run);
  if (name === undefined) throw new QueryError('unknown field', at, run);
  return { field: { name }, end: end + 1 };
}

function expectKey(key: string, at: number): string {
  if (key === '') throw new QueryError('a metadata key is missing: write metadata.<key>:<value>', at);
  return key;
}

/** A list of all fields, for errors. */
export const fieldList = `${plainFields.slice(0, -1).join(', ')}, ${plainFields.at(-1)} and ${metadataField}`;

/** An unknown name of at least this many characters is similar to the fields that begin with it. */
const beginningMin = 3;

/**
 * Returns the known field whose name is most similar to an unknown name, or null if no name is similar. Ignores case.
 */
export function nearestPlainField(name: string): string | null {
  const typed = name.slice(0, comparedLengthMax).toLowerCase();
  const [first = ''] = typed.split('.');
  if (isNear(first, 'metadata') || typed.startsWith('metadata')) return metadataField;
  if (typed.length >= beginningMin) {
    const begun = [...dateFields, ...plainFields, metadataField].find((field) => field.startsWith(typed));
    if (begun !== undefined) return begun;
  }
  const field = nearest(typed, plainFields);
  return field !== undefined && isNear(typed, field) ? field : null;
}

function startMessage(character: string): string {
  return character === '"' ? bareWordMessage('') : 'unexpected character; a term has the form field:value';
}

function bareWordMessage(run: string): string {
  if (/^(?:and|or|not)$/i.test(run)) return 'AND, OR and NOT must be in capitals';
  const missing = 'a field is missing; a term has the form field:value';
  const type = tokenTypes.find((known) => known === run.toLowerCase());
  return type === undefined ? missing : `${missing}; did you mean \`type:${type}\`?`;
}

/**
 * The characters in a quoted string that need special handling: quotes, backslashes and lone surrogates. Lone
 * surrogates are invalid.
 */
const special = /["\\]|\p{Cs}/gu;

/**
 * Reads a string in double quotes that begins at `at`. `\"` and `\\` stand for `"` and `\`. Throws QueryError if the
 * string is invalid.
 */
function readQuoted(text: string, at: number): { readonly text: string; readonly end: number } {
  const parts: string[] = [];
  for (let from = at + 1; ; ) {
    special.lastIndex = from;
    const match = special.exec(text);
    if (match === null) throw new QueryError('the closing quote is missing', at);
    parts.push(text.slice(from, match.index));
    const [found] = match;
    if (found === '"') return { text: parts.join(''), end: match.index + 1 };
    const escaped = text.charAt(match.index + 1);
    if (found !== '\\') throw new QueryError('the text is not well-formed Unicode', match.index);
    if (escaped !== '"' && escaped !== '\\') {
      throw new QueryError('in quotes, a backslash must be followed by a quote or a backslash', match.index);
    }
    parts.push(escaped);
    from = match.index + 2;
  }
}

/**
 * The characters of a field name or an unquoted metadata key: letters of any script with their marks, digits,
 * underscores, hyphens and dots.
 */
const nameRun = /[\p{L}\p{M}\p{Nd}_.-]+/uy;
/** The characters of an unquoted value (docs/contract.md, "Search grammar"). Only some values may contain `*`. */
const valueRun = /[\p{L}\p{M}\p{Nd}\-_.@:/+',#$%&=~*]+/uy;
const spaceRun = /\s+/uy;

const runs = { name: nameRun, value: valueRun, space: spaceRun } as const;

/**
 * Returns the longest run of characters of one kind that begins at `index`. Returns an empty string if the text has no
 * such character at `index`.
 */
export function runAt(text: string, index: number, of: keyof typeof runs): string {
  const run = runs[of];
  run.lastIndex = index;
  return run.exec(text)?.[0] ?? '';
}
