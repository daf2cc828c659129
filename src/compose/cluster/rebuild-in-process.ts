import { ensureIndexes } from '../../adapters/mongodb/required-indexes.js';
import { createMongoRowComparison } from '../../adapters/mongodb/token-rows/compare-rows.js';
import { mongoRowWriter } from '../../adapters/mongodb/token-rows/row-writer.js';
import { tokenRowsIndexes } from '../../adapters/mongodb/token-rows/token-rows-indexes.js';
import type { RebuildThread } from '../../ports/rebuild-thread.js';
import type { RowSources } from '../../projections/fold-row.js';
import { buildPage } from '../../projections/rebuild/build-page.js';
import type { ClusterStores } from './cluster-stores.js';

/**
 * Runs the long part of a rebuild in this process. The process runs either a command or the background work. Throws
 * StoreUnavailable if another process is already running the rebuild.
 */
export async function rebuildInProcess(
  vault: RowSources,
  { generations, rowsConnection, batches }: ClusterStores,
): Promise<Omit<RebuildThread, 'directory'>> {
  const close = () => generations.release().catch(() => undefined);
  await generations.hold();
  try {
    const { write } = await generations.fresh();
    // The process that started the rebuild may have died before it created these indexes.
    await rowsConnection.call((db) => ensureIndexes(db, write.map(tokenRowsIndexes)));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async build({ generation }, after, limit) {
      const page = await buildPage(vault, mongoRowWriter(rowsConnection, generation).revisionsOf, after, limit);
      // Leaves out rows from a batch that may still be rolled back. The process that completes the batch writes them.
      // Threat: a caller reads a token from a batch that is rolled back later.
      const pendingBatchStreams = await batches.pendingBatchStreams();
      return { ...page, rows: page.rows.filter(({ view }) => !pendingBatchStreams.has(view.stream)) };
    },
    compare: createMongoRowComparison(rowsConnection),
    // The rebuild uses this process's key ring, which handles rotations itself. There are no keys to forget here.
    forgetKeys: async () => undefined,
    close,
  };
}
