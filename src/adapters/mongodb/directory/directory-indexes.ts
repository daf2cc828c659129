import type { RequiredIndexes } from '../required-indexes.js';

export const directoryCollection = 'directory';

/** Every query names its index. */
export const directoryIndexNames = {
  keys: 'keys',
  /** Orders the records of each kind, a tenant's newest applications first. */
  order: 'order',
} as const;

export const directoryIndexes: RequiredIndexes = {
  collection: directoryCollection,
  indexes: [
    {
      name: directoryIndexNames.keys,
      key: { 'keys.hash': 1 },
      unique: true,
      // Without this, all records without keys would share one index key and violate the unique index.
      partialFilterExpression: { 'keys.hash': { $exists: true } },
    },
    { name: directoryIndexNames.order, key: { kind: 1, tenant: 1, created_revision: -1 } },
  ],
};
