import { randomUUID } from 'node:crypto';
import { createMongoRowComparison } from '../../adapters/mongodb/token-rows/compare-rows.js';
import { mongoRowWriter } from '../../adapters/mongodb/token-rows/row-writer.js';
import type { Vault } from '../../commands/vault.js';
import { buildPage } from '../../jobs/rebuild/build-page.js';
import { foldDirectory } from '../../jobs/rebuild/fold-directory.js';
import type { Lead } from '../../ports/checkpoints.js';
import type { RebuildThread } from '../../ports/rebuild-thread.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { ClusterStores } from './cluster-stores.js';

/** Who was killed is replaced when its lease ends. */
const leaseMs = 10_000;
const renewMs = 2_500;
const leadName = 'rebuild';

/**
 * The rebuild in a process of the cluster that serves nobody meanwhile: a verb, or a worker. One of them at a time works at
 * it, by a lease; a second one, while that passes on, harms nothing, because every row is guarded by its revision.
 */
export function rebuildInProcess(vault: Vault, { rowsConnection, checkpoints }: ClusterStores) {
  const holder = randomUUID();
  const compare = createMongoRowComparison(rowsConnection);

  async function open(): Promise<RebuildThread> {
    let lead: Lead | null = await checkpoints.lead(leadName, holder, leaseMs);
    if (lead === null) throw new StoreUnavailable('mongodb', 'rebuilt_by_another_process');
    const renewing = setInterval(async () => {
      lead = await checkpoints.lead(leadName, holder, leaseMs).catch(() => null);
    }, renewMs);
    renewing.unref();
    return {
      async build({ generation }, after, limit) {
        if (lead === null) throw new StoreUnavailable('mongodb', 'rebuilt_by_another_process');
        return buildPage(vault, mongoRowWriter(rowsConnection, generation).revisionsOf, after, limit);
      },
      compare,
      directory: () => foldDirectory(vault.log),
      async close() {
        clearInterval(renewing);
        if (lead !== null) await checkpoints.resign(lead).catch(() => undefined);
      },
    };
  }

  return {
    open,
    /** Whether another process works at it. */
    async isElsewhere(): Promise<boolean> {
      const lead = await checkpoints.lead(leadName, holder, leaseMs);
      if (lead !== null) await checkpoints.resign(lead);
      return lead === null;
    },
  };
}
