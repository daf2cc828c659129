import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { memoryRateLimits } from '#src/adapters/memory/memory-rate-limits.js';
import { mongoAccessLog } from '#src/adapters/mongodb/access-log/mongo-access-log.js';
import { connectMongo } from '#src/adapters/mongodb/connection.js';
import { prometheusMetrics } from '#src/adapters/prometheus/prometheus-metrics.js';
import { storesOn } from '#src/compose/cluster/stores-on.js';
import { composeVault, systemRandom } from '#src/compose/vault/compose-vault.js';
import { projectDirectory } from '#src/projections/project-directory.js';
import { projectToken } from '#src/projections/project-token.js';
import { createKnownCallers } from '#src/vault/known-callers.js';
import { noLimits } from '#src/vault/limit-settings.js';

/** Opens the vault in the cluster profile, without Redis. Its connections count their calls. */
export async function openVault({ urls, database, waits }, rootKey, steps) {
  const rows = await patiently(() => connectMongo(urls.mongodb, database));
  const keys = await patiently(() => connectMongo(urls.mongodb, `${database}_keys`));
  const { log } = await patiently(() => openEventStoreDb(urls.eventstore));
  const clock = { now: Date.now };
  let vault = null;
  const stores = await storesOn({
    rowsConnection: steps.connection(rows),
    keysConnection: steps.connection(keys),
    log: steps.log(log),
    clock,
    rootKey,
    waits,
    project: (tenantId, stream) =>
      stream.startsWith('token-')
        ? projectToken(vault, stores.rowWriter, tenantId, stream)
        : projectDirectory(vault, stores.directoryWriter, stream),
  });
  const composed = composeVault(
    // The access log uses a connection without a counter, because it records a change a few milliseconds later, not
    // during one of the command's steps.
    { ...stores, accessLog: mongoAccessLog(rows) },
    {
      clock,
      random: systemRandom,
      metrics: prometheusMetrics(),
      rateLimits: memoryRateLimits(clock),
      limits: noLimits,
      knownCallers: createKnownCallers(),
      confirmReads: async () => undefined,
      cvcRetentionMs: 3_600_000,
      integrity: await stores.keys.integrityKeys(),
      timers: { set: () => undefined },
      spans: null,
      rowCache: null,
      systems: { log: 'eventstoredb', rows: 'mongodb' },
      onError: (error) => process.stderr.write(`${error.stack}\n`),
    },
  );
  vault = composed.vault;
  return { vault, stores };
}

/**
 * Calls `open` up to ten times. The tests start many processes at the same time, so a server can take longer to respond
 * than a vault would wait.
 */
async function patiently(open) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await open();
    } catch (error) {
      if (tries === 10) throw error;
    }
  }
}
