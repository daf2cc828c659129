import type { AccessLog } from '../../../ports/access-log.js';
import { monthOf } from '../../access-log/month.js';
import type { MongoConnection } from '../connection.js';
import { accessBatches, accessChains, accessHeads } from './access-chains.js';
import { accessCollection, monthsStored } from './access-collections.js';
import { queryAccess } from './access-query.js';
import { createAccessWriter } from './access-writer.js';

/** `AccessLog` on one collection a month, for many processes: each appends to a chain of its own. */
export function mongoAccessLog(connection: MongoConnection): AccessLog & { close(): Promise<void> } {
  const writer = createAccessWriter(connection);
  return {
    record: (entries) => writer.record(entries),
    query: (tenantId, filter, page) => queryAccess(connection, tenantId, filter, page),
    chains: () => accessChains(connection),
    batches: (chain, afterSequence, limit) => accessBatches(connection, chain, afterSequence, limit),
    heads: (since) => accessHeads(connection, monthOf(since)),
    async dropMonths(before) {
      const months = (await connection.call(monthsStored)).filter((month) => month < monthOf(before));
      let dropped = 0;
      for (const month of months) {
        // False when another process was first.
        if (await connection.call((db) => db.dropCollection(accessCollection(month)))) dropped += 1;
      }
      if (months.length > 0) writer.forgetMonths();
      return dropped;
    },
    close: () => writer.close(),
  };
}
