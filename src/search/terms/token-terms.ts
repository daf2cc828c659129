import { createLru, type Lru } from '../../domain/lru.js';
import type { TokenContent } from '../../domain/token/content.js';
import { type Findable, termOf } from './term.js';

/** What a token is searched by besides its content. */
export type Circumstances = {
  readonly createdBy: string;
  readonly modifiedBy: string | null;
  /** What its index expressions gave; the cvc is in none of them. */
  readonly indexValues: readonly string[];
};

/** The terms of a token, in no telling order (architecture, "Search"). Dates are columns of its row. */
export function tokenTerms(searchKey: Uint8Array, content: TokenContent, circumstances: Circumstances): string[] {
  const terms = findables(content, circumstances).map((what) => termFor(searchKey, what));
  return [...new Set(terms)].sort();
}

/** Terms that many tokens of a tenant share are hashed once; they are forgotten with the key. */
const sharedTerms = new WeakMap<Uint8Array, Lru<string>>();
/** For each tenant. */
const sharedTermsMax = 100;

function termFor(searchKey: Uint8Array, what: Findable): string {
  // Threat: values in the memory of a process that nobody asks for them. Of what people put in nothing is kept.
  if (what.by === 'id' || what.by === 'fingerprint' || what.by === 'metadata' || what.by === 'data') {
    return termOf(searchKey, what);
  }
  const known = sharedTerms.get(searchKey) ?? createLru<string>(sharedTermsMax);
  sharedTerms.set(searchKey, known);
  const name = what.by === 'all' ? what.by : `${what.by} ${what.value}`;
  const term = known.get(name) ?? termOf(searchKey, what);
  known.set(name, term);
  return term;
}

function findables(content: TokenContent, { createdBy, modifiedBy, indexValues }: Circumstances): Findable[] {
  const { id, type, fingerprint, containers, metadata } = content;
  return [
    { by: 'all' },
    { by: 'id', value: id },
    { by: 'type', value: type },
    { by: 'fingerprint', value: fingerprint },
    { by: 'created_by', value: createdBy },
    ...(modifiedBy === null ? [] : [{ by: 'modified_by', value: modifiedBy } as const]),
    ...containers.map((value) => ({ by: 'container', value }) as const),
    ...containers.flatMap(selfAndAncestors).map((value) => ({ by: 'within', value }) as const),
    ...Object.entries(metadata ?? {}).map(([key, value]) => ({ by: 'metadata', key, value }) as const),
    ...indexValues.map((value) => ({ by: 'data', value }) as const),
  ];
}

/** `/a/b/` lies within `/a/b/` and `/a/`. That all lie within `/` needs no term. */
function selfAndAncestors(path: string): string[] {
  const segments = path.split('/').slice(1, -1);
  return segments.map((_, depth) => `/${segments.slice(0, depth + 1).join('/')}/`);
}
