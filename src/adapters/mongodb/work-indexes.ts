import type { RequiredIndexes } from './required-indexes.js';

export const claimsCollection = 'claims';
export const fingerprintsCollection = 'fingerprint_claims';
export const batchesCollection = 'batches';

/** The indexes for queries that find claims and batches by fields other than `_id`. */
export const workIndexes: readonly RequiredIndexes[] = [
  { collection: claimsCollection, indexes: [{ name: 'state_time', key: { state: 1, time: 1 } }] },
  {
    collection: fingerprintsCollection,
    indexes: [
      { name: 'stream', key: { 'intent.stream': 1 } },
      { name: 'opened', key: { openedAt: 1 } },
    ],
  },
  { collection: batchesCollection, indexes: [{ name: 'state_opened', key: { state: 1, openedAt: 1 } }] },
];
