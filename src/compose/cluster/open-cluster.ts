import { memoryRateLimits } from '../../adapters/memory/memory-rate-limits.js';
import { dropUnusedRows } from '../../adapters/mongodb/generations/drop-unused-rows.js';
import { createReadProof } from '../../adapters/mongodb/read-proof.js';
import { prometheusMetrics } from '../../adapters/prometheus/prometheus-metrics.js';
import { onceAMinute } from '../../adapters/shared/once-a-minute.js';
import { withinLimit } from '../../adapters/shared/within-limit.js';
import { webhookSender as httpWebhookSender } from '../../adapters/webhook-target/webhook-sender.js';
import { type Checkpointer, createCheckpointer } from '../../audit/checkpointer.js';
import { expectContinuity, unlessForged } from '../../audit/continuity.js';
import { recordDue } from '../../commands/tokens/record-due.js';
import { isTokenStream } from '../../events/tokens/stream-name.js';
import { createSweep, type Sweep } from '../../jobs/sweep.js';
import { createWebhookDeliveries, type WebhookDeliveries } from '../../jobs/webhooks/deliver-webhooks.js';
import type { RootKeySource } from '../../keys/root-keys.js';
import type { TraceUseLimits } from '../../keys/trace-uses.js';
import type { Anchor } from '../../ports/anchor.js';
import type { Clock } from '../../ports/clock.js';
import type { Spans } from '../../ports/spans.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { WebhookSender } from '../../ports/webhook-sender.js';
import { createDailyCounting } from '../../projections/daily-counts.js';
import { projectDirectory } from '../../projections/project-directory.js';
import { projectToken } from '../../projections/project-token.js';
import { keptRowsMs } from '../../projections/rebuild/token-rebuild.js';
import { shredEndedKeys } from '../../projections/shredder.js';
import { createKnownCallers } from '../../vault/known-callers.js';
import { type LimitSettings, noLimits } from '../../vault/limit-settings.js';
import { expectNotBehind } from '../../vault/log-behind.js';
import type { Vault } from '../../vault/vault.js';
import type { StoreUrls } from '../config/store-urls.js';
import { composeVault, systemRandom } from '../vault/compose-vault.js';
import type { OpenService } from '../vault/open-service.js';
import { outdatedProjections, rebuildOutdated } from '../vault/rebuild-outdated.js';
import { createBackground } from './background.js';
import { clusterClock, exactClock } from './cluster-clock.js';
import { clusterProjections } from './cluster-projections.js';
import { createClusterState } from './cluster-state.js';
import { type ClusterStores, openClusterStores } from './cluster-stores.js';
import { identifyStores } from './identify-stores.js';
import { openRedis } from './open-redis.js';

const hasRootKeyMs = 1_000;

export type ClusterOptions = {
  readonly urls: StoreUrls;
  readonly database: string;
  readonly rootKey: Buffer;
  /** Reads the candidates for the root key again. Called when another process has replaced the root key. */
  readonly rereadRootKeys?: RootKeySource;
  /** The role of this process. A process with the role `api` leaves the background work to other processes. */
  readonly role: 'all' | 'api' | 'worker';
  /** True for `strongroom init`, which creates the log, indexes and collections if they are missing. */
  readonly prepares: boolean;
  /**
   * If true, opens the stores even if the log is older than its keys, or does not match the key store's record of the
   * log. A caller can then examine the log, or reconcile it with the keys.
   */
  readonly acceptsOlderLog?: boolean;
  readonly cvcRetentionMs: number;
  readonly limits?: LimitSettings;
  /** Records trace spans. Null if tracing is off. */
  readonly spans?: Spans | null;
  /** How long the vault retains the old rows after a rebuild, in ms. The default is one minute. */
  readonly keptMs?: number;
  /** Receives each notice for the operator. The service writes notices to its log. */
  readonly onNotice?: (text: string) => void;
  /** The anchor that receives signed checkpoints, or null if no anchor is configured. */
  readonly anchor?: Anchor | null;
  /** The clock. Tests pass a clock that they control. */
  readonly clock?: Clock;
  /** How long a use of a rate limit waits for Redis, in ms. Tests pass a long time, so that Redis counts every use. */
  readonly rateLimitWaitMs?: number;
  /** The limits on the use of trace keys. Tests pass low limits so that keys are replaced early. */
  readonly traceLimits?: TraceUseLimits;
  /** The sender for webhooks. By default, webhooks are sent only to public addresses. */
  readonly webhookSender?: WebhookSender;
  readonly onError: (error: unknown) => void;
};

export type Cluster = OpenService & {
  /** Creates the sweep for one term as leader. */
  newSweep(): Sweep;
  /** Creates the checkpointer for one term as leader. */
  newCheckpointer(): Checkpointer;
  /** Creates the webhook deliveries for one term as leader. */
  newWebhooks(): WebhookDeliveries;
  /** The cleanup that the leader repeats. */
  readonly cleanup: readonly (() => Promise<unknown>)[];
};

/**
 * Opens the cluster profile, which implements all ports with EventStoreDB, MongoDB and Redis. Many processes can have
 * the same stores open. Before the promise resolves, the vault destroys every key that was ended by an event in the log.
 * Throws StoreUnavailable if a store cannot be reached, and StoreProblem with advice if a store cannot be used.
 */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { urls, database, rootKey, role, prepares, cvcRetentionMs, limits = noLimits, onError } = options;
  const spans = options.spans ?? null;
  const webhookSender = options.webhookSender ?? httpWebhookSender({ allowsPrivate: false });
  const metrics = prometheusMetrics();
  // The stores call `project` to write rows, and `project` needs the vault's keys and expressions. The vault can be
  // composed only after the stores are open, so `project` reads the vault from this variable.
  let composed: { readonly vault: Vault; readonly stores: ClusterStores } | null = null;
  const stores = await openClusterStores({
    urls,
    database,
    rootKey,
    prepares,
    rereadRootKeys: options.rereadRootKeys ?? (async () => []),
    traceLimits: options.traceLimits ?? {},
    async clockOf(connection) {
      if (options.clock !== undefined) return exactClock(options.clock);
      return clusterClock(connection.primaryTime, onError);
    },
    async project(tenantId, stream) {
      if (composed === null) throw new Error('nothing may be projected before the vault is composed');
      const { vault, stores: open } = composed;
      if (isTokenStream(stream)) return projectToken(vault, open.rowWriter, tenantId, stream);
      return projectDirectory(vault, open.directoryWriter, stream);
    },
  });
  const { clock } = stores;
  const redis = openRedis({
    url: urls.redis,
    prefix: database,
    clock,
    fallback: memoryRateLimits(clock),
    rateLimitWaitMs: options.rateLimitWaitMs,
    onError,
  });
  const closeStores = async (): Promise<void> => {
    clock.stop();
    await redis.close();
    await stores.close();
  };
  try {
    const { acceptsOlderLog = false } = options;
    const logId = await identifyStores(stores, prepares, acceptsOlderLog);
    await clock.recordIn(stores.keyStore.clockRecords, onError);
    await expectNotBehind(stores, acceptsOlderLog);
    if (!acceptsOlderLog) await expectContinuity(stores);
    // If an older copy of MongoDB was restored, its revisions make its rows look current until this has run. Rows that
    // name a destroyed key are then read, but each read of such a row looks in the log too.
    await unlessForged(shredEndedKeys(stores.log, stores.keys), acceptsOlderLog);
    const projectedUpTo = () => stores.checkpoints.position('tokens');
    const connections = [stores.rowsConnection, stores.keysConnection];
    const prove = createReadProof(stores.rowsConnection);
    // Other processes also cache callers, so `forget` waits until their entries have expired. This cache is cleared
    // when the primary changes, because its entries may come from a deposed primary.
    const knownCallers = createKnownCallers({ othersToo: true });
    stores.rowsConnection.onPrimaryChanged(knownCallers.forgetAll);
    const { vault, recorder, service, damage, forgetRepaired, onBackgroundError, onFrequentError } = composeVault(
      stores,
      {
        integrity: await stores.keys.integrityKeys(),
        clock,
        random: systemRandom,
        metrics,
        limits,
        onError,
        // Every attempt at background work fails while a store is down. The metric counts every failure, but the log gets
        // only one line per minute.
        onOutage: onceAMinute(onError),
        cvcRetentionMs,
        spans,
        webhookSender,
        rateLimits: spans?.store('rate_limits', 'redis', redis.rateLimits) ?? redis.rateLimits,
        systems: { log: 'eventstoredb', rows: 'mongodb' },
        rowCache: null,
        timers: redis.timers,
        knownCallers,
        async confirmReads(since, hasWritten) {
          if (!hasWritten) await prove();
          if (connections.some((connection) => !connection.primaryIsSince(since))) {
            throw new StoreUnavailable('mongodb', 'primary_changed');
          }
        },
      },
    );
    composed = { vault, stores };
    const { rowWriter, directoryWriter, checkpoints, batches } = stores;
    const { pendingBatchStreams } = batches;
    const newSweep = () => createSweep(vault, rowWriter.forgetTombstones, onBackgroundError, projectedUpTo);
    const { anchor = null } = options;
    const newCheckpointer = () => createCheckpointer({ ...vault, metrics, logId, anchor, onError: onFrequentError() });
    const newWebhooks = () =>
      createWebhookDeliveries(vault, onFrequentError(), {
        carry: redis.carryWebhook,
        pendingStreams: pendingBatchStreams,
      });
    const carriedWebhooks = createWebhookDeliveries(vault, onFrequentError(), { pendingStreams: pendingBatchStreams });
    // Batches come first, because a fingerprint claim may belong to a batch.
    const cleanup = [
      batches.clear,
      stores.clearFingerprints,
      () => redis.refill(vault.rows),
      () => dropUnusedRows(stores.rowsConnection),
    ];
    const background = createBackground({
      vault,
      rows: rowWriter,
      directory: directoryWriter,
      checkpoints,
      onError: onBackgroundError,
      pendingBatchStreams,
      jobs: [newSweep, newCheckpointer, newWebhooks, () => createDailyCounting(vault, onFrequentError())],
      // Without the root key, almost all background work fails. If the key store does not respond in time, the lease is
      // still renewed, because no other process could do better.
      mayLead: async () =>
        clock.isTrusted() && (await withinLimit('lease', hasRootKeyMs, stores.keys.hasRootKey()).catch(() => true)),
      cleanup,
    });
    const state = createClusterState({
      stores,
      isUp: { mongodb: prove, redis: redis.prove },
      damage,
      forgetRepaired,
      runnerError: background.runnerError,
      accessLogIsWritable: recorder.isWritable,
    });
    const { keptMs = keptRowsMs, onNotice = () => undefined } = options;
    const needs = { vault, stores, keptMs, state, onError: onBackgroundError };
    const { tokens, projections } = clusterProjections(needs);
    const outdated = await outdatedProjections(stores.generations, 'MongoDB');
    return {
      ...service,
      newSweep,
      newCheckpointer,
      newWebhooks,
      cleanup,
      projections,
      state,
      confirmClock: async () => 'cluster',
      start() {
        if (role === 'api') return;
        background.start();
        rebuildOutdated({ tokens, projections }, outdated, onNotice).catch(onBackgroundError);
        // If this machine's clock is wrong, this process skips the work. The sweep on another machine does it instead.
        redis.work(async (row) => (clock.isTrusted() ? recordDue(vault, row) : undefined), onBackgroundError);
        redis.workOnWebhooks(
          ({ tenantId, webhookId }) => carriedWebhooks.deliver(tenantId, webhookId),
          onBackgroundError,
        );
      },
      async close() {
        await tokens.stop();
        // A webhook receiver that does not respond must not delay the shutdown.
        webhookSender.close();
        await carriedWebhooks.stop();
        await redis.stopWork();
        await background.stop();
        await vault.vocabularies.idle();
        await recorder.close();
        await closeStores();
      },
    };
  } catch (error) {
    await closeStores().catch(() => undefined);
    throw error;
  }
}
