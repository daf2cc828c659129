import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Query } from '../query/syntax-tree.js';
import { metadataHead } from './metadata-head.js';
import { typeWords, type VisibleWords } from './visible-words.js';

/** So many terms of a query are corrected; each takes about 10 ms at worst. */
const correctionsMax = 4;

/** A term whose head or path can be mistyped: a type, a metadata key or a container. */
export type NamingTerm = Extract<Query, { readonly is: 'text' | 'metadata' | 'container' }>;

/** Terms that name something a query may have mistyped. One under NOT is never why nothing is found. */
export function namingTerms(query: Query): readonly NamingTerm[] {
  switch (query.is) {
    case 'and':
    case 'or':
      return query.of.flatMap(namingTerms);
    case 'text':
      return query.field === 'type' && !typeWords.has(query.value) ? [query] : [];
    case 'metadata':
    case 'container':
      return [query];
    default:
      return [];
  }
}

/**
 * Corrected heads of terms that no token can meet because none has such a type, metadata key or container, such as
 * `metadata.customer` or `container:/pci/high/`.
 */
export async function correct(terms: readonly NamingTerm[], visible: VisibleWords): Promise<readonly string[]> {
  const texts = new Set<string>();
  const doubtful = terms.filter((term) => !isKnown(term, visible));
  for (const term of doubtful.slice(0, correctionsMax)) {
    await nextTurn();
    const text = corrected(term, visible);
    if (text !== undefined) texts.add(text);
  }
  return [...texts];
}

function isKnown(term: NamingTerm, { keys, knowsContainer }: VisibleWords): boolean {
  if (term.is === 'text') return typeWords.has(term.value);
  return term.is === 'metadata' ? keys.has(term.key) : knowsContainer(term.path, term.within);
}

function corrected(term: NamingTerm, visible: VisibleWords): string | undefined {
  switch (term.is) {
    case 'text':
      return written(typeWords.nearest(term.value), (type) => `type:${type}`);
    case 'metadata':
      return written(visible.keys.nearest(term.key), metadataHead);
    case 'container':
      return written(nearestContainer(term.path, visible), (path) => {
        return `container:${term.within && path.endsWith('/') ? `${path}*` : path}`;
      });
  }
}

function nearestContainer(path: string, { containers }: VisibleWords): string | undefined {
  return containers.nearest(path) ?? containers.nearest(`${path}*`);
}

function written(word: string | undefined, write: (word: string) => string): string | undefined {
  return word === undefined ? undefined : write(word);
}
