import type { Filter } from 'mongodb';
import type { AccessEntry } from '../../../events/access-log/access-entry.js';
import type { AccessFilter, AccessPage } from '../../../ports/access-log.js';
import { monthOf } from '../../access-log/month.js';
import type { MongoConnection } from '../connection.js';
import { countBy, readSnapshot } from '../snapshot-reading.js';
import { accessCollection, accessIndexNames, monthsStored } from './access-collections.js';
import { type EntryDocument, entryOf } from './entry-document.js';

/** One page of a tenant's entries, newest first, over all months, with the exact total of the same instant. */
export async function queryAccess(
  connection: MongoConnection,
  tenantId: string,
  filter: AccessFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<AccessPage> {
  const stored = await connection.call(monthsStored);
  const [first, last] = [monthOf(filter.from), filter.to === null ? null : monthOf(filter.to)];
  const months = stored.filter((month) => month >= first && (last === null || month <= last)).reverse();
  const where = conditionsOf(tenantId, filter);
  const hint = filter.entityRef === null ? accessIndexNames.time : accessIndexNames.ref;

  return readSnapshot(connection, 'access_log_query_too_long', async (db, options) => {
    let total = 0;
    const entries: AccessEntry[] = [];
    for (const month of months) {
      const collection = accessCollection(month);
      const count = await countBy(db, collection, where, { ...options(), hint });
      const skipped = Math.max(0, offset - total);
      total += count;
      if (count <= skipped || entries.length >= limit) continue;
      const page = db
        .collection<EntryDocument>(collection)
        .find(where as Filter<EntryDocument>, { ...options(), hint })
        .sort({ time: -1, _id: -1 })
        .skip(skipped)
        .limit(limit - entries.length);
      entries.push(...(await page.toArray()).map(entryOf));
    }
    return { total, entries };
  });
}

function conditionsOf(tenantId: string, { entityType, entityRef, operation, from, to }: AccessFilter) {
  return {
    tenant: tenantId,
    ...(entityRef === null ? {} : { ref: Buffer.from(entityRef, 'hex') }),
    time: { $gte: from, ...(to === null ? {} : { $lt: to }) },
    ...(operation === null ? {} : { operation }),
    ...(entityType === null ? {} : { type: entityType }),
  };
}
