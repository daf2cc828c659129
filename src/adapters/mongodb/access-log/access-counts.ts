import type { AccessCount } from '../../../ports/access-log.js';
import type { MongoConnection } from '../connection.js';
import { accessCollection, monthsStored } from './access-collections.js';
import type { EntryDocument } from './entry-document.js';
import { afterBatch, isChain } from './entry-key.js';

/** The maximum number of batches whose entries one call counts. */
const batchesMax = 500;
const dayMs = 86_400_000;
/** The latest time that a `Date` can have. */
const timeMsMax = 8.64e15;

/**
 * Counts the entries about tokens in the next batches of a chain. The batches can be in any month. Threat: an attacker
 * gives an entry a time that is no time, so that nothing is counted any longer. Such an entry does not count.
 */
export async function accessCounts(
  { call }: MongoConnection,
  chain: string,
  afterSequence: number,
  upTo: number,
): Promise<{ readonly last: number; readonly counts: readonly AccessCount[] }> {
  const last = Math.min(upTo, afterSequence + batchesMax);
  if (!isChain(chain)) return { last, counts: [] };
  const range = { $gt: afterBatch(chain, afterSequence), $lte: afterBatch(chain, last) };
  const counts: AccessCount[] = [];
  for (const month of await call(monthsStored)) {
    const counted = await call((db) =>
      db
        .collection<EntryDocument>(accessCollection(month))
        .aggregate<AccessCount>(
          [
            { $match: { _id: range, type: 'token', time: { $gte: 0, $lte: timeMsMax } } },
            {
              $group: {
                _id: {
                  tenantId: '$tenant',
                  operation: '$operation',
                  outcome: '$outcome',
                  day: { $toInt: { $floor: { $divide: ['$time', dayMs] } } },
                },
                count: { $sum: 1 },
              },
            },
            { $replaceWith: { $mergeObjects: ['$_id', { count: '$count' }] } },
          ],
          { hint: '_id_' },
        )
        .toArray(),
    );
    counts.push(...counted);
  }
  return { last, counts };
}
