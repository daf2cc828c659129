import { ensureIndexes } from '../../adapters/mongodb/required-indexes.js';
import { createMongoRowComparison } from '../../adapters/mongodb/token-rows/compare-rows.js';
import { mongoRowWriter } from '../../adapters/mongodb/token-rows/row-writer.js';
import { tokenRowsIndexes } from '../../adapters/mongodb/token-rows/token-rows-indexes.js';
import type { RebuildThread } from '../../ports/rebuild-thread.js';
import { buildPage } from '../../projections/rebuild/build-page.js';
import type { Vault } from '../../vault/vault.js';
import type { ClusterStores } from './cluster-stores.js';

/**
 * The part of a rebuild that takes long, in this process: a verb, or a worker, which serve nobody meanwhile. Throws
 * StoreUnavailable while another process works at it.
 */
export async function rebuildInProcess(
  vault: Vault,
  { generations, rowsConnection, batches }: ClusterStores,
): Promise<Omit<RebuildThread, 'directory'>> {
  const close = () => generations.release().catch(() => undefined);
  await generations.hold();
  try {
    const { write } = await generations.fresh();
    // Who began it may have been killed before it had made them.
    await rowsConnection.call((db) => ensureIndexes(db, write.map(tokenRowsIndexes)));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async build({ generation }, after, limit) {
      const page = await buildPage(vault, mongoRowWriter(rowsConnection, generation).revisionsOf, after, limit);
      // Threat: a token that may still be undone with others would be read. Whoever ends that writes its row.
      const heldBack = await batches.heldBack();
      return { ...page, rows: page.rows.filter(({ view }) => !heldBack.has(view.stream)) };
    },
    compare: createMongoRowComparison(rowsConnection),
    // The process has the same keys for all that it does, and a rotation replaces them.
    forgetKeys: async () => undefined,
    close,
  };
}
