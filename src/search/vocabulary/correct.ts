import { setImmediate as nextTurn } from 'node:timers/promises';
import { nearest } from '../../domain/nearest.js';
import { nearestPlainField, runAt } from '../query/lexer.js';
import type { Query } from '../query/syntax-tree.js';
import { typeWords, type VisibleWords } from './word-list.js';

/** The maximum number of terms to correct in a query. Each correction takes at most about 10 ms. */
const correctionsMax = 4;

/** A term with a type, a metadata key or a container that the caller may have mistyped. */
type NamingTerm = Extract<Query, { readonly kind: 'text' | 'metadata' | 'container' }>;

/**
 * Returns the terms of a query that may contain a typo. Leaves out terms under NOT, because a typo in such a term
 * cannot be the reason for an empty result.
 */
export function namingTerms(query: Query): readonly NamingTerm[] {
  switch (query.kind) {
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
 * Returns corrections for terms that no token can match, because no token has that type, metadata key or container. A
 * correction is a complete term or the beginning of a term, such as `container:/pci/high/` or `metadata.customer`.
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
  if (term.kind === 'text') return typeWords.has(term.value);
  return term.kind === 'metadata' ? keys.has(term.key) : knowsContainer(term.path, term.within);
}

function corrected(term: NamingTerm, visible: VisibleWords): string | undefined {
  switch (term.kind) {
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

const comparedLengthMax = 100;
/** Matches a key that follows `metadata.`, even if `metadata` is mistyped. */
const metadataLike = /^meta?[^.]{0,8}\.(.+)$/isu;

/**
 * Returns the field or metadata key that the caller most likely meant when a query contains an unknown field. Considers
 * only metadata keys that the caller may see. Returns a key in the form `metadata.customer`. If a field and a key are
 * equally similar to the unknown field, returns the field. Returns null if nothing is similar.
 */
export function nearestField(name: string, { keys }: VisibleWords): string | null {
  const field = nearestPlainField(name);
  const whole = keys.nearest(name);
  const part = keys.nearest(metadataLike.exec(name)?.[1] ?? '');
  const known = field === null ? [] : [field];
  const key = whole === undefined ? part : nearest(name.slice(0, comparedLengthMax), [...known, whole]);
  return key === undefined || key === field ? field : metadataHead(key);
}

/** Returns a metadata key in query syntax: `metadata.customer`, or `metadata."my key"`. */
export function metadataHead(key: string): string {
  return runAt(key, 0, 'name') === key ? `metadata.${key}` : `metadata."${key.replaceAll(/["\\]/g, '\\$&')}"`;
}
