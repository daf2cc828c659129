import type { ListFilters } from '../../../commands/tokens/list-tokens.js';
import { Problem } from '../../problem.js';
import type { ListTokensQuery } from './list-query.js';

const metadataPrefix = 'metadata.';

/** The filters of a list: `id` and `type`, repeatable, `metadata.<key>` and `metadata` as one JSON object. */
export function listFiltersOf(query: ListTokensQuery): ListFilters {
  return {
    ids: query.id === undefined ? null : [query.id].flat(),
    types: query.type === undefined ? null : [query.type].flat(),
    metadata: Object.entries(query).flatMap(([name, value]) => metadataOf(name, value)),
  };
}

/** A repeated parameter counts once, the first. */
function metadataOf(name: string, value: unknown): (readonly [string, string])[] {
  const [first = ''] = [value].flat().map(String);
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
