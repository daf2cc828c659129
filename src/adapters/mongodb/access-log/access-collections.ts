import type { Db } from 'mongodb';
import { type Month, monthOf } from '../../shared/month.js';
import { ensureIndexes, type RequiredIndexes } from '../required-indexes.js';

const shape = /^access_(\d{4})_(\d{2})$/;

/**
 * The names of the indexes. Every query passes one of them as its hint. Each index contains every field that its
 * queries filter by, so MongoDB computes an exact count without reading entries.
 */
export const accessIndexNames = { time: 'time', ref: 'ref' } as const;

/** Returns the name of the collection for a month, such as `access_2026_11`. */
export function accessCollection(month: Month): string {
  return `access_${month.replace('-', '_')}`;
}

/** Returns the months that have a collection, oldest first. */
export async function monthsStored(db: Db): Promise<readonly Month[]> {
  const collections = await db.listCollections({ name: shape }, { nameOnly: true }).toArray();
  return collections
    .map(({ name }) => shape.exec(name))
    .flatMap((found) => (found === null ? [] : [`${found[1]}-${found[2]}`]))
    .sort();
}

export function accessIndexes(month: Month): RequiredIndexes {
  return {
    collection: accessCollection(month),
    indexes: [
      { name: accessIndexNames.time, key: { tenant: 1, time: 1, _id: 1, operation: 1, type: 1 } },
      {
        name: accessIndexNames.ref,
        key: { tenant: 1, ref: 1, time: 1, _id: 1, operation: 1, type: 1 },
        partialFilterExpression: { ref: { $exists: true } },
      },
    ],
  };
}

/**
 * Creates the collections and indexes for the month of `now` (ms) and for the following month. The first entries of a
 * new month then do not have to wait for an index to be created. Also creates missing indexes for earlier months,
 * because the entries may have been restored without their indexes.
 */
export async function ensureAccessIndexes(db: Db, now: number): Promise<void> {
  const date = new Date(now);
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const months = new Set([...(await monthsStored(db)), monthOf(now), monthOf(next)]);
  await ensureIndexes(db, [...months].map(accessIndexes));
}
