import { codePointCount } from '../../domain/text.js';
import { isTruncated, parseIsoDateTime } from '../../domain/time.js';
import { type Field, fieldList, lex, nearestPlainField, type TextValue, type Token, type Value } from './lexer.js';
import { QueryError } from './query-error.js';
import type { DateField, Query } from './syntax-tree.js';

const charactersMax = 2_000;
const termsMax = 64;
const depthMax = 32;

export type ParsedQuery =
  | { readonly ok: true; readonly query: Query }
  | {
      readonly ok: false;
      readonly message: string;
      /** The index of the error in the query. Absent if the query is too long. */
      readonly at?: number;
      /**
       * Present only if the query contains an unknown field. `name` is the field as the caller wrote it. `nearest`
       * returns the error message with a field as its suggestion.
       */
      readonly unknownField?: { readonly name: string; nearest(field: string | null): string };
    };

/**
 * Parses a query (docs/contract.md, "Search grammar"). An error message describes the problem and contains its
 * position, counted from 1. It never quotes the query. Parsing takes linear time and never throws.
 */
export function parseQuery(text: string): ParsedQuery {
  if (text.length > 2 * charactersMax || codePointCount(text) > charactersMax) {
    return { ok: false, message: `a query can have at most ${charactersMax} characters` };
  }
  try {
    return { ok: true, query: parse(lex(text)) };
  } catch (error) {
    if (error instanceof QueryError) return refused(error, text);
    throw error;
  }
}

function refused(error: QueryError, text: string): ParsedQuery {
  const { unknownField: name, at } = error;
  if (name === null) return { ok: false, message: error.describe(text), at };
  const nearest = (field: string | null): string =>
    error.describe(text, field === null ? `; the fields are ${fieldList}` : `; did you mean \`${field}\`?`);
  return { ok: false, message: nearest(nearestPlainField(name)), at, unknownField: { name, nearest } };
}

/**
 * Parses lexical tokens by recursive descent. NOT binds tighter than AND, and AND binds tighter than OR. `a NOT b`
 * means `a AND NOT b`.
 */
function parse(tokens: readonly Token[]): Query {
  let next = 0;
  let terms = 0;
  const peek = (): Token => tokens[next] ?? { kind: 'end', at: 0 };
  const take = (): Token => {
    const token = peek();
    next += 1;
    return token;
  };

  function alternatives(depth: number): Query {
    const first = conjunction(depth);
    const of = [first];
    while (peek().kind === 'or') {
      take();
      of.push(conjunction(depth));
    }
    return of.length === 1 ? first : { kind: 'or', of };
  }

  function conjunction(depth: number): Query {
    const first = negation(depth);
    const of = [first];
    for (;;) {
      const token = peek();
      if (token.kind === 'and') take();
      else if (token.kind === 'term' || token.kind === 'open') {
        throw new QueryError('an operator is missing between two terms: AND, OR or NOT', token.at);
      } else if (token.kind !== 'not') return of.length === 1 ? first : { kind: 'and', of };
      of.push(negation(depth));
    }
  }

  function negation(depth: number): Query {
    const token = take();
    if (depth > depthMax) throw new QueryError(`a query can be nested at most ${depthMax} levels deep`, token.at);
    switch (token.kind) {
      case 'not':
        return { kind: 'not', of: negation(depth + 1) };
      case 'open':
        return group(token.at, depth + 1);
      case 'term':
        terms += 1;
        if (terms > termsMax) throw new QueryError(`a query can have at most ${termsMax} terms`, token.at);
        return readTerm(token.field, token.value);
      default:
        throw new QueryError('a term is missing here', token.at);
    }
  }

  function group(at: number, depth: number): Query {
    const inner = alternatives(depth);
    if (take().kind !== 'close') throw new QueryError('this parenthesis is not closed', at);
    return inner;
  }

  if (peek().kind === 'end') return { kind: 'everything' };
  const query = alternatives(0);
  if (peek().kind === 'close') throw new QueryError('no parenthesis was opened for this one', peek().at);
  return query;
}

/** Returns the syntax tree for a field and its value. Throws QueryError if the field does not accept the value. */
function readTerm(field: Field, value: Value): Query {
  if (field.name === 'created_at' || field.name === 'modified_at') return readDate(field.name, value);
  if (value.kind === 'range') throw new QueryError('only created_at and modified_at accept a range', value.at);
  if (field.name === 'container') return readContainer(value);
  refuseStar(value);
  if (field.name === 'metadata') return { kind: 'metadata', key: field.key, value: value.text };
  return { kind: 'text', field: field.name, value: value.text };
}

/**
 * Reads a container path. A path means exactly that container. A path that ends in `/*` also includes all
 * sub-containers. Quotes around a path make no difference.
 */
function readContainer({ text, at, quoted }: TextValue): Query {
  const within = text.endsWith('/*');
  const path = within ? text.slice(0, -1) : text;
  const star = path.indexOf('*');
  if (star !== -1) throw new QueryError(starMessage, quoted ? at : at + star);
  if (!path.startsWith('/')) throw new QueryError('a container path must start with /', at);
  if (!path.endsWith('/')) throw new QueryError('a container path must end in / or /*', at);
  return { kind: 'container', path, within };
}

const starMessage = '* is only allowed at the end of a container path, after /, and as an open end of a range';

function refuseStar({ text, quoted, at }: TextValue): void {
  const star = quoted ? -1 : text.indexOf('*');
  if (star !== -1) throw new QueryError(starMessage, at + star);
}

const dayMs = 86_400_000;
const dateOnly = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Reads a date or a range of dates. Outside a range, a date means the whole day in UTC, and a date-time means one
 * millisecond, or nothing if it is between two milliseconds. In a range, a date means the first millisecond of the day
 * in UTC. Throws QueryError for text that is neither an ISO 8601 date nor a date-time.
 */
function readDate(field: DateField, value: Value): Query {
  if (value.kind === 'text') {
    const { from, after } = instant(value);
    return { kind: 'date', field, from, to: dateOnly.test(value.text) ? from + dayMs : after };
  }
  const from = end(value.from);
  const to = end(value.to);
  return {
    kind: 'date',
    field,
    from: from === null || value.fromIncluded ? (from?.from ?? null) : from.after,
    to: to === null || value.toIncluded ? (to?.after ?? null) : to.from,
  };
}

/** The first millisecond that is not before a time, and the first millisecond that is after it. */
type Instant = { readonly from: number; readonly after: number };

function end(value: TextValue): Instant | null {
  return value.text === '*' && !value.quoted ? null : instant(value);
}

function instant({ text, at }: TextValue): Instant {
  const ms = parseIsoDateTime(text);
  if (ms === null) throw new QueryError('not an ISO 8601 date or date-time, such as 2026-01-31', at);
  return { from: isTruncated(text) ? ms + 1 : ms, after: ms + 1 };
}
