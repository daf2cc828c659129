import { QueryError } from './query-error.js';
import { readDate } from './read-date.js';
import type { Query } from './syntax-tree.js';
import type { Field, TextValue, Value } from './token.js';

/** What a field and its value mean. Throws QueryError for a value that the field does not take. */
export function readTerm({ name, key }: Field, value: Value): Query {
  if (name === 'created_at' || name === 'modified_at') return readDate(name, value);
  if (value.is === 'range') throw new QueryError('only created_at and modified_at take a range', value.at);
  if (name === 'container') return readContainer(value);
  refuseStar(value);
  if (name === 'metadata') return { is: 'metadata', key: key ?? '', value: value.text };
  return { is: 'text', field: name, value: value.text };
}

/** Quoted and unquoted paths mean the same: exactly that container, or with `/*` its sub-containers too. */
function readContainer({ text, at, quoted }: TextValue): Query {
  const within = text.endsWith('/*');
  const path = within ? text.slice(0, -1) : text;
  const star = path.indexOf('*');
  if (star !== -1) throw new QueryError(starMessage, quoted ? at : at + star);
  if (!path.startsWith('/')) throw new QueryError('a container path starts with /', at);
  if (!path.endsWith('/')) throw new QueryError('a container path ends in / or in /*', at);
  return { is: 'container', path, within };
}

const starMessage = '* is only allowed at the end of a container path, after /, and as an open end of a range';

function refuseStar({ text, quoted, at }: TextValue): void {
  const star = quoted ? -1 : text.indexOf('*');
  if (star !== -1) throw new QueryError(starMessage, at + star);
}
