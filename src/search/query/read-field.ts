import { nearest } from '../../domain/nearest.js';
import { QueryError } from './query-error.js';
import { readQuoted } from './read-quoted.js';
import { dateFields, textFields } from './syntax-tree.js';
import type { Field } from './token.js';

const plainFields = [...textFields, 'container', ...dateFields] as const;
const metadataPrefix = 'metadata.';
const metadataField = 'metadata.<key>';
const knownFields = [...plainFields, metadataField];
/** A longer name is like none of ours, and to compare it would take long. */
const comparedLengthMax = 100;

/**
 * Reads a field name with its colon; `run` are the name characters that it begins with. `end` is where the value
 * begins. Throws QueryError: a bare word, an unknown field, metadata without a key.
 */
export function readField(text: string, at: number, run: string): { readonly field: Field; readonly end: number } {
  if (run === '') throw new QueryError(startMessage(text.charAt(at)), at);
  const end = at + run.length;
  if (run === metadataPrefix && text.charAt(end) === '"') {
    const { text: key, end: keyEnd } = readQuoted(text, end);
    if (text.charAt(keyEnd) !== ':') throw new QueryError('a metadata key is followed by a colon and a value', keyEnd);
    return { field: { name: 'metadata', key: expectKey(key, end) }, end: keyEnd + 1 };
  }
  if (text.charAt(end) !== ':') throw new QueryError(bareWordMessage(run), at);
  if (run.startsWith(metadataPrefix)) {
    const key = expectKey(run.slice(metadataPrefix.length), end);
    return { field: { name: 'metadata', key }, end: end + 1 };
  }
  const name = plainFields.find((known) => known === run);
  if (name === undefined) throw new QueryError('unknown field', at, run);
  return { field: { name, key: null }, end: end + 1 };
}

function expectKey(key: string, at: number): string {
  if (key === '') throw new QueryError('a metadata key is missing: write metadata.<key>:<value>', at);
  return key;
}

/** The known field that an unknown one is nearest to; in capitals it is as near as without. */
export function nearestPlainField(name: string): string {
  const [first] = name.split('.');
  if (first?.toLowerCase() === 'metadata') return metadataField;
  return nearest(name.slice(0, comparedLengthMax).toLowerCase(), knownFields) ?? metadataField;
}

function startMessage(character: string): string {
  return character === '"' ? bareWordMessage('') : 'unexpected character; a term is written field:value';
}

function bareWordMessage(run: string): string {
  return /^(?:and|or|not)$/i.test(run)
    ? 'AND, OR and NOT are written in capitals'
    : 'a field is missing; a term is written field:value';
}
