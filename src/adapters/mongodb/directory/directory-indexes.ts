import type { RequiredIndexes } from '../required-indexes.js';

export const directoryCollection = 'directory';

/** Every query names its index. */
export const directoryIndexNames = {
  keys: 'keys',
  /** Of each kind; applications of a tenant with the newest first. */
  order: 'order',
} as const;

export const directoryIndexes: RequiredIndexes = {
  collection: directoryCollection,
  indexes: [
    {
      name: directoryIndexNames.keys,
      key: { 'keys.hash': 1 },
      unique: true,
      // Records without keys would all have the same: none.
      partialFilterExpression: { 'keys.hash': { $exists: true } },
    },
    { name: directoryIndexNames.order, key: { kind: 1, tenant: 1, created_revision: -1 } },
  ],
};
