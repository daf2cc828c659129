import type { ListFilters } from '../../../commands/tokens/list-tokens.js';
import { Problem } from '../../problem.js';
import { type QueryString, valuesOf } from '../../query-string.js';

const metadataPrefix = 'metadata.';

/** The filters of a list: `id` and `type`, repeatable, `metadata.<key>` and `metadata` as one JSON object. */
export function listFiltersOf(query: QueryString): ListFilters {
  return {
    ids: valuesOf(query, 'id'),
    types: valuesOf(query, 'type'),
    metadata: Object.keys(query).flatMap((name) => metadataOf(query, name)),
  };
}

function metadataOf(query: QueryString, name: string): (readonly [string, string])[] {
  const [first = ''] = valuesOf(query, name) ?? [];
  if (name === 'metadata') return entriesOf(first);
  return name.startsWith(metadataPrefix) ? [[name.slice(metadataPrefix.length), first]] : [];
}

function entriesOf(text: string): (readonly [string, string])[] {
  const parsed = parse(text);
  const entries = Object.entries(parsed ?? {});
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (parsed === null || texts.length < entries.length) {
    throw new Problem('validation_failed', { metadata: ['must be a JSON object whose values are strings'] });
  }
  return texts;
}

function parse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
