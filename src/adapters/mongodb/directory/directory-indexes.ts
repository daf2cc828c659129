import type { RequiredIndexes } from '../required-indexes.js';

export const directoryCollection = 'directory';

/** The index names, which queries pass as their hint. */
export const directoryIndexNames = {
  keys: 'keys',
  /** Orders records by kind, then by tenant. The newest applications of a tenant come first. */
  order: 'order',
} as const;

export const directoryIndexes: RequiredIndexes = {
  collection: directoryCollection,
  indexes: [
    {
      name: directoryIndexNames.keys,
      key: { 'keys.hash': 1 },
      unique: true,
      // Without this filter, all records that have no keys would have the same index key, which the unique index does
      // not allow.
      partialFilterExpression: { 'keys.hash': { $exists: true } },
    },
    { name: directoryIndexNames.order, key: { kind: 1, tenant: 1, created_revision: -1 } },
  ],
};
