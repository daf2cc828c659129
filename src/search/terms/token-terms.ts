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
  const terms = findables(content, circumstances).map((what) => termOf(searchKey, what));
  return [...new Set(terms)].sort();
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
