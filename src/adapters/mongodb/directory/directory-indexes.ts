import type { RequiredIndexes } from '../required-indexes.js';

export const directoryCollection = 'directory';

/**
 * The time limit for a read of all records, in ms. 100,000 applications are more than MongoDB sends within the time limit
 * of a call.
 */
export const readAllLimitMs = 60_000;

/** The names of the indexes. Queries pass them as their hint. */
export const directoryIndexNames = {
  keys: 'keys',
  /** Sorts records by kind and then by tenant. Within a tenant, the newest applications come first. */
  order: 'order',
} as const;

export const directoryIndexes: RequiredIndexes = {
  collection: directoryCollection,
  indexes: [
    {
      name: directoryIndexNames.keys,
      key: { 'keys.hash': 1 },
      unique: true,
      // Excludes records without keys, because they would all have the same index key, which a unique index does not
      // allow.
      partialFilterExpression: { 'keys.hash': { $exists: true } },
    },
    { name: directoryIndexNames.order, key: { kind: 1, tenant: 1, created_revision: -1 } },
  ],
};
