import { createLru, type Lru } from '../domain/lru.js';
import type { TokenContent } from '../domain/token/content.js';
import { keyedHash } from '../events/sealing/keyed-hash.js';
import { normalise } from './normalise.js';

/** The searchable properties of a token that are not part of its content. */
export type Circumstances = {
  readonly createdBy: string;
  readonly modifiedBy: string | null;
  /** The results of the token's search index expressions. None of them contains the cvc. */
  readonly indexValues: readonly string[];
};

/**
 * Returns a token's terms in sorted order, so that their order reveals nothing about the token (docs/design.md, "Search
 * index"). There are no terms for dates, because dates are columns of the row.
 */
export function tokenTerms(searchKey: Uint8Array, content: TokenContent, circumstances: Circumstances): string[] {
  const terms = findables(content, circumstances).map((what) => termFor(searchKey, what));
  return [...new Set(terms)].sort();
}

/**
 * Caches the keyed hashes of terms that many tokens of a tenant share. The cached hashes are dropped together with
 * their search-term key.
 */
const sharedTerms = new WeakMap<Uint8Array, Lru<string>>();
/** The maximum number of cached terms per search-term key. */
const sharedTermsMax = 100;

/** Like `termOf`, but caches terms that many tokens share. */
export function termFor(searchKey: Uint8Array, what: Findable): string {
  // Threat: an attacker reads cached values from the process's memory. The terms for ids, fingerprints, metadata and
  // data are therefore not cached.
  if (what.kind === 'id' || what.kind === 'fingerprint' || what.kind === 'metadata' || what.kind === 'data') {
    return termOf(searchKey, what);
  }
  const known = sharedTerms.get(searchKey) ?? createLru<string>(sharedTermsMax);
  sharedTerms.set(searchKey, known);
  const name = what.kind === 'all' ? what.kind : `${what.kind} ${what.value}`;
  const term = known.get(name) ?? termOf(searchKey, what);
  known.set(name, term);
  return term;
}

function findables(content: TokenContent, { createdBy, modifiedBy, indexValues }: Circumstances): Findable[] {
  const { id, type, fingerprint, containers, metadata } = content;
  return [
    { kind: 'all' },
    { kind: 'id', value: id },
    { kind: 'type', value: type },
    { kind: 'fingerprint', value: fingerprint },
    { kind: 'created_by', value: createdBy },
    ...(modifiedBy === null ? [] : [{ kind: 'modified_by', value: modifiedBy } as const]),
    ...containers.map((value) => ({ kind: 'container', value }) as const),
    ...containers.flatMap(selfAndAncestors).map((value) => ({ kind: 'within', value }) as const),
    ...Object.entries(metadata ?? {}).map(([key, value]) => ({ kind: 'metadata', key, value }) as const),
    ...indexValues.map((value) => ({ kind: 'data', value }) as const),
  ];
}

/**
 * Returns a container and its ancestors. For `/a/b/`, these are `/a/` and `/a/b/`. Leaves out `/`, which needs no term
 * because it contains all containers.
 */
export function selfAndAncestors(path: string): string[] {
  const segments = path.split('/').slice(1, -1);
  return segments.map((_, depth) => `/${segments.slice(0, depth + 1).join('/')}/`);
}

/** The number of hex digits in a term. A term has 16 bytes. */
const termHexDigits = 32;

/**
 * A searchable property of a token. `within` stands for one of the token's containers or for an ancestor of such a
 * container.
 */
export type Findable =
  | { readonly kind: 'all' }
  | { readonly kind: 'id' | 'fingerprint'; readonly value: string }
  | { readonly kind: 'type' | 'data' | 'created_by' | 'modified_by' | 'container' | 'within'; readonly value: string }
  | { readonly kind: 'metadata'; readonly key: string; readonly value: string };

/**
 * Returns a term in its stored form: a keyed hash of 16 bytes, in hex. Normalizes all values except ids and
 * fingerprints, which search compares exactly.
 */
export function termOf(searchKey: Uint8Array, what: Findable): string {
  return keyedHash(searchKey, 'search-term', what.kind, ...parts(what)).slice(0, termHexDigits);
}

function parts(what: Findable): readonly string[] {
  switch (what.kind) {
    case 'all':
      return [];
    case 'id':
    case 'fingerprint':
      return [what.value];
    case 'metadata':
      return [normalise(what.key), normalise(what.value)];
    default:
      return [normalise(what.value)];
  }
}
