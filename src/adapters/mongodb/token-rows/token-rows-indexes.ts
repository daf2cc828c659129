import type { Db } from 'mongodb';
import type { RequiredIndexes } from '../required-indexes.js';

/** The names of the indexes. Every query passes one of them as its hint, so no query scans the whole collection. */
export const rowIndexes = {
  /** Contains the terms of each live row. Within a term, the newest tokens come first. */
  terms: 'terms',
  fingerprint: 'fingerprint',
  expiresAt: 'expires_at',
  cvcPurgeAt: 'cvc_purge_at',
  removedAt: 'removed_at',
  createdAt: 'created_at',
  modifiedAt: 'modified_at',
  type: 'type',
} as const;

/** Returns the name of the collection for a generation. Generations are numbered from 1. */
export function tokenRowsCollection(generation: number): string {
  return `token_rows_${generation}`;
}

/** Matches the names that `tokenRowsCollection` returns. */
export const tokenRowsPattern = /^token_rows_\d+$/;

/** Returns the names of the stored collections of rows, one for each generation. */
export async function tokenRowsCollections(db: Db): Promise<readonly string[]> {
  const found = await db.listCollections({ name: tokenRowsPattern }, { nameOnly: true }).toArray();
  return found.map(({ name }) => name);
}

export function tokenRowsIndexes(generation: number): RequiredIndexes {
  return {
    collection: tokenRowsCollection(generation),
    indexes: [
      // The first two indexes do not have to contain the tenant, because each tenant hashes its terms and fingerprints
      // under different keys. The first five indexes are sparse, because a tombstone has none of the indexed fields
      // except `removed_at`.
      { name: rowIndexes.terms, key: { terms: 1, seq: -1 }, sparse: true },
      { name: rowIndexes.fingerprint, key: { fingerprint: 1, seq: -1 }, sparse: true },
      { name: rowIndexes.expiresAt, key: { expires_at: 1 }, sparse: true },
      { name: rowIndexes.cvcPurgeAt, key: { cvc_purge_at: 1 }, sparse: true },
      { name: rowIndexes.removedAt, key: { removed_at: 1 }, sparse: true },
      ofTenant(rowIndexes.createdAt),
      ofTenant(rowIndexes.modifiedAt),
      ofTenant(rowIndexes.type),
    ],
  };
}

function ofTenant(field: string) {
  const partialFilterExpression = { [field]: { $exists: true } };
  return { name: field, key: { tenant: 1, [field]: 1 } as const, partialFilterExpression };
}
