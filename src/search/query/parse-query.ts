import { codePointCount } from '../../domain/text.js';
import { lex } from './lexer.js';
import { QueryError } from './query-error.js';
import { nearestPlainField } from './read-field.js';
import { readTerm } from './read-term.js';
import type { Query } from './syntax-tree.js';
import type { Token } from './token.js';

const charactersMax = 2_000;
const termsMax = 64;
const depthMax = 32;

export type ParsedQuery =
  | { readonly ok: true; readonly query: Query }
  | {
      readonly ok: false;
      readonly message: string;
      /** Of an unknown field: its name, as the caller wrote it, and the message with what else it may have meant. */
      readonly unknownField?: { readonly name: string; nearest(field: string): string };
    };

/**
 * Parses a search (specification, "Query syntax"; contract, section 7). A refusal says what is wrong and at which
 * character, counted from 1, and repeats nothing of the text. Linear in the length of the text; never throws.
 */
export function parseQuery(text: string): ParsedQuery {
  if (text.length > 2 * charactersMax || codePointCount(text) > charactersMax) {
    return { ok: false, message: `a query has at most ${charactersMax} characters` };
  }
  try {
    return { ok: true, query: parse(lex(text)) };
  } catch (error) {
    if (error instanceof QueryError) return refused(error, text);
    throw error;
  }
}

function refused(error: QueryError, text: string): ParsedQuery {
  const { unknownField: name } = error;
  if (name === null) return { ok: false, message: error.describe(text) };
  const nearest = (field: string): string => error.describe(text, `; the nearest known one is ${field}`);
  return { ok: false, message: nearest(nearestPlainField(name)), unknownField: { name, nearest } };
}

/** Recursive descent: NOT binds tighter than AND, AND than OR. `a NOT b` is `a AND NOT b`. */
function parse(tokens: readonly Token[]): Query {
  let next = 0;
  let terms = 0;
  const peek = (): Token => tokens[next] ?? { is: 'end', at: 0 };
  const take = (): Token => {
    const token = peek();
    next += 1;
    return token;
  };

  function alternatives(depth: number): Query {
    const first = conjunction(depth);
    const of = [first];
    while (peek().is === 'or') {
      take();
      of.push(conjunction(depth));
    }
    return of.length === 1 ? first : { is: 'or', of };
  }

  function conjunction(depth: number): Query {
    const first = negation(depth);
    const of = [first];
    for (;;) {
      const token = peek();
      if (token.is === 'and') take();
      else if (token.is === 'term' || token.is === 'open') {
        throw new QueryError('an operator is missing between two terms: AND, OR or NOT', token.at);
      } else if (token.is !== 'not') return of.length === 1 ? first : { is: 'and', of };
      of.push(negation(depth));
    }
  }

  function negation(depth: number): Query {
    const token = take();
    if (depth > depthMax) throw new QueryError(`a query is nested at most ${depthMax} deep`, token.at);
    switch (token.is) {
      case 'not':
        return { is: 'not', of: negation(depth + 1) };
      case 'open':
        return group(token.at, depth + 1);
      case 'term':
        terms += 1;
        if (terms > termsMax) throw new QueryError(`a query has at most ${termsMax} terms`, token.at);
        return readTerm(token.field, token.value);
      default:
        throw new QueryError('a term is missing here', token.at);
    }
  }

  function group(at: number, depth: number): Query {
    const inner = alternatives(depth);
    if (take().is !== 'close') throw new QueryError('this parenthesis is not closed', at);
    return inner;
  }

  if (peek().is === 'end') return { is: 'everything' };
  const query = alternatives(0);
  if (peek().is === 'close') throw new QueryError('no parenthesis was opened for this one', peek().at);
  return query;
}
