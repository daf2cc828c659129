import { memoryConsoleSessions } from '../../adapters/memory/memory-console-sessions.js';
import { memoryRateLimits } from '../../adapters/memory/memory-rate-limits.js';
import { prometheusMetrics } from '../../adapters/prometheus/prometheus-metrics.js';
import { readLastBackup } from '../../adapters/sqlite/backup/last-backup.js';
import { sqliteDailyCounts } from '../../adapters/sqlite/daily-counts.js';
import { StoreBroken } from '../../adapters/sqlite/database/database-error.js';
import { lostVault } from '../../adapters/sqlite/writer/prepare-stores.js';
import { webhookSender as httpWebhookSender } from '../../adapters/webhook-target/webhook-sender.js';
import { lostEntries } from '../../audit/access-log/lost-entries.js';
import { type Checkpointer, createCheckpointer } from '../../audit/checkpointer.js';
import { expectContinuity, unlessForged } from '../../audit/continuity.js';
import { createSweep, type Sweep } from '../../jobs/sweep.js';
import { createWebhookDeliveries, type WebhookDeliveries } from '../../jobs/webhooks/deliver-webhooks.js';
import type { TraceUseLimits } from '../../keys/trace-uses.js';
import type { Anchor } from '../../ports/anchor.js';
import { type Clock, steadyNow } from '../../ports/clock.js';
import type { Random } from '../../ports/random.js';
import type { Spans } from '../../ports/spans.js';
import { problemText } from '../../ports/store-problem.js';
import type { WebhookSender } from '../../ports/webhook-sender.js';
import { createDailyCounting } from '../../projections/daily-counts.js';
import { rebuildStatus } from '../../projections/rebuild/rebuild-status.js';
import { keptRowsMs } from '../../projections/rebuild/token-rebuild.js';
import { shredWithNotice } from '../../projections/shredder.js';
import { createKnownCallers } from '../../vault/known-callers.js';
import { type LimitSettings, noLimits } from '../../vault/limit-settings.js';
import { expectNotBehind, noteLog } from '../../vault/log-behind.js';
import { logIdentity, openLog } from '../../vault/open-log.js';
import { createRowCache } from '../../vault/row-cache.js';
import { projectionVersions } from '../../views/versions.js';
import { shellWord } from '../files/shell-word.js';
import { composeVault, systemRandom } from '../vault/compose-vault.js';
import { type GuardedClock, guardedClock, holdNotices, lateClock, newestEventTime } from '../vault/guarded-clock.js';
import type { OpenService } from '../vault/open-service.js';
import { outdatedProjections, rebuildOutdated } from '../vault/rebuild-outdated.js';
import { systemClock } from '../vault/system-clock.js';
import { takeDataDirectory } from './data-directory.js';
import { diskReserve, reserveBytesDefault } from './disk-reserve.js';
import { embeddedProjections } from './embedded-projections.js';
import { embeddedState, heldUpNotices } from './embedded-state.js';
import { type EmbeddedStores, openAuthenticStores } from './embedded-stores.js';

export type EmbeddedOptions = {
  readonly dataDir: string;
  readonly rootKey: Buffer;
  /** The next root key of an interrupted rotation. The keys may already be wrapped under it. */
  readonly nextRootKey?: Buffer | null;
  /**
   * The kind of data to accept. `dev` accepts only data that was created in dev mode, and `production` accepts only
   * data that was created in production mode. CLI commands use `any`, which accepts both.
   */
  readonly mode: 'dev' | 'production' | 'any';
  /**
   * If true, opens the stores even if the log is older than its keys, or does not match the key store's record of the
   * log. A caller can then examine the log, or reconcile it with the keys.
   */
  readonly acceptsOlderLog?: boolean;
  readonly cvcRetentionMs: number;
  /** The limits for requests. CLI commands omit this option, because no limits apply to them. */
  readonly limits?: LimitSettings;
  /** The anchor that receives signed checkpoints, or null if no anchor is configured. */
  readonly anchor?: Anchor | null;
  readonly clock?: Clock;
  /** The amount of disk space that is reserved for deletes and reveals, in bytes. */
  readonly reserveBytes?: number;
  /** The limits on the use of trace keys. Tests pass low limits so that keys are replaced early. */
  readonly traceLimits?: TraceUseLimits;
  readonly random?: Random;
  /** The sender for webhooks. By default, webhooks are sent only to public addresses. */
  readonly webhookSender?: WebhookSender;
  /** Records trace spans. Null if tracing is off. */
  readonly spans?: Spans | null;
  /** How long the vault retains the old rows after a rebuild, in ms. The default is one minute. */
  readonly keptMs?: number;
  /** Receives each notice for the operator. The service writes notices to its log. */
  readonly onNotice?: (text: string) => void;
  /** Called for each failure that was not caused by a request. */
  readonly onError: (error: unknown) => void;
  /** Called when the stores can no longer be written. The process must exit after this call. */
  readonly onBroken: (error: StoreBroken) => void;
};

export type Embedded = OpenService & {
  readonly sweep: Sweep;
  readonly checkpointer: Checkpointer;
  readonly webhooks: WebhookDeliveries;
};

/**
 * Opens the embedded profile, which implements the ports with the SQLite files in one data directory. The directory is
 * locked for this process until `close`. Before the promise resolves, the vault destroys all ended keys. Throws
 * StoreProblem with advice if the directory cannot be used.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, rootKey, random = systemRandom, limits = noLimits } = options;
  const { onNotice = () => undefined, keptMs = keptRowsMs, acceptsOlderLog = false, onError } = options;
  const bareClock = options.clock ?? systemClock();
  let guard: GuardedClock | null = null;
  // The stores need a clock before they can read the record that determines whether the clock can be trusted. They
  // destroy nothing until they have read it.
  const clock = lateClock(bareClock, () => guard);
  const metrics = prometheusMetrics();
  const lock = await takeDataDirectory(dataDir, options.onBroken, options.mode === 'dev');
  const opened: { close(): unknown }[] = [];
  try {
    const stores = await openAuthenticStores(dataDir, rootKey, clock, options.onBroken, {
      onCommitted: metrics.groupCommitted,
      nextRootKey: options.nextRootKey,
      traceLimits: options.traceLimits,
    });
    opened.push(stores);
    const logId = await identify(stores, options, random, clock);
    await expectNotBehind(stores, acceptsOlderLog);
    if (!acceptsOlderLog) await expectContinuity(stores);
    for (const notice of stores.notices) onNotice(notice);
    guard = await guardedClock({
      clock: bareClock,
      records: stores.clockRecords,
      newestEvent: await newestEventTime(stores.log, acceptsOlderLog),
      onError,
      onNotice,
    });
    const outdated = await outdatedProjections(stores.generations, 'vault.db');
    if (outdated.includes('shredder')) await stores.keys.saveCheckpoint('shredder', 0);
    await unlessForged(shredWithNotice(stores.log, stores.keys, onNotice), acceptsOlderLog);
    if (outdated.includes('shredder')) await stores.generations.saveVersion('shredder', projectionVersions.shredder);
    const rateLimits = memoryRateLimits(clock);
    const { cvcRetentionMs } = options;
    const reserve = diskReserve(dataDir, options.reserveBytes ?? reserveBytesDefault);
    const guarded = {
      ...stores,
      work: reserve.guardWork(stores.work),
      keys: reserve.guardKeys(stores.keys),
      consoleSessions: memoryConsoleSessions(),
    };
    const held = guard;
    const rowCache = createRowCache();
    const webhookSender = options.webhookSender ?? httpWebhookSender({ allowsPrivate: false });
    const dailyCounts = sqliteDailyCounts(dataDir, logId);
    opened.push(dailyCounts);
    const { vault, recorder, service, damage, forgetRepaired, onBackgroundError, onFrequentError } = composeVault(
      { ...guarded, dailyCounts },
      {
        integrity: await stores.keys.integrityKeys(),
        clock,
        random,
        metrics,
        rateLimits,
        limits,
        onError,
        cvcRetentionMs,
        webhookSender,
        spans: options.spans ?? null,
        systems: { log: 'sqlite', rows: 'sqlite' },
        rowCache,
        // A timer only wakes the sweep, and the sweep does not need a token's id.
        timers: { set: ({ dueAt }) => sweep.dueAt(dueAt), clear: () => undefined, pending: async () => 0 },
        knownCallers: createKnownCallers(),
        confirmReads: () => undefined,
      },
    );
    const sweep = createSweep(vault, stores.forgetTombstones, onBackgroundError);
    const webhooks = createWebhookDeliveries(vault, onFrequentError());
    const dailyCounting = createDailyCounting(vault, onFrequentError());
    const state = async () => {
      // If the store cannot be read, we assume that no rebuild is running.
      const { running } = rebuildStatus(await stores.generations.rebuild().catch(() => null));
      await forgetRepaired();
      return embeddedState({
        log: stores.log,
        keys: stores.keys,
        damage: damage(),
        accessLog: recorder,
        rebuild: running,
        notices: [
          ...holdNotices(held.hold()),
          ...heldUpNotices(stores.heldUp(), dataDir, steadyNow(clock)),
          ...[stores.indexDamage()].filter((found) => found !== null),
        ],
        backupMadeAt: await readLastBackup(dataDir),
      });
    };
    const { tokens, projections } = embeddedProjections({
      vault,
      stores,
      reserve,
      dataDir,
      keptMs,
      state,
      onSwap: rowCache.clear,
      onError: onBackgroundError,
    });
    if (outdated.includes('directory')) {
      onNotice('the directory was built by an older version and is being rebuilt');
      await projections.rebuild('directory', true);
    }
    const { anchor = null } = options;
    const checkpointer = createCheckpointer({ ...vault, metrics, logId, anchor, onError: onFrequentError() });
    return {
      ...service,
      sweep,
      checkpointer,
      webhooks,
      projections,
      state,
      confirmClock: async () => ((await held.confirm()) ? 'confirmed' : 'trusted'),
      start() {
        // First, because other work moves new entries into the files of the access log, which can hide a loss.
        lostEntries(vault)
          .then((lost) => lost === null || onNotice(problemText(lost)))
          .catch(onBackgroundError);
        held.start();
        sweep.start();
        checkpointer.start();
        webhooks.start();
        dailyCounting.start();
        const rows = outdated.filter((name) => name === 'tokens');
        rebuildOutdated({ tokens, projections }, rows, onNotice).catch(onBackgroundError);
      },
      async close() {
        await tokens.stop();
        // A webhook receiver that does not respond must not delay the shutdown.
        webhookSender.close();
        await webhooks.stop();
        await dailyCounting.stop();
        await sweep.stop();
        await vault.vocabularies.idle();
        await recorder.close();
        await checkpointer.stop();
        // Destroys ended keys now to keep the next start short. Otherwise, the next start would read all events since
        // keys were last destroyed. These events may include a whole import.
        await shredWithNotice(stores.log, stores.keys, onNotice).catch(() => undefined);
        // If this write fails, the key store's record of the log is only slightly out of date, so the error is ignored.
        // Threat: an attacker forges a log, and an operator opens it to examine it. The key store must never record
        // such a log.
        if (!acceptsOlderLog) await noteLog(stores).catch(() => undefined);
        await held.stop();
        dailyCounts.close();
        await stores.close();
        lock.release();
      },
    };
  } catch (error) {
    // The original error matters more than an error of `close`. The writer thread must end, so that the process can
    // exit.
    for (const each of opened.reverse()) {
      try {
        await each.close();
      } catch {}
    }
    lock.release();
    throw error;
  }
}

/**
 * Returns the log's id. If the log is new, records its id in both stores. Throws StoreBroken if the stores do not
 * belong together, or if they were created in a different mode.
 */
async function identify(
  stores: EmbeddedStores,
  { dataDir, mode, acceptsOlderLog = false }: Pick<EmbeddedOptions, 'dataDir' | 'mode' | 'acceptsOlderLog'>,
  random: Random,
  clock: Clock,
): Promise<string> {
  // Reads the id without verifying its MAC. If the log belongs to a different vault, its MACs were computed with that
  // vault's keys. Verifying them here would wrongly report a forged log.
  const identity = await logIdentity(stores.storedLog);
  const logIdOfKeys = stores.logIdOfKeys();
  if (identity === null) {
    // Threat: an attacker empties the log or removes its first event to make the vault start a new log.
    if ((await stores.keys.logMemory()).link !== null) {
      if (acceptsOlderLog && logIdOfKeys !== null) return logIdOfKeys;
      throw lostVault();
    }
    // If an earlier process died while it created the log, the key store already has that log's id. We use the same id.
    const logId = logIdOfKeys ?? random.uuid();
    if (logIdOfKeys === null) await stores.bindKeysToLog(logId);
    await openLog(stores.log, random, { dev: mode === 'dev', at: clock.now(), logId });
    return logId;
  }
  if (identity.logId !== logIdOfKeys) {
    throw new StoreBroken('vault.db and keys.db do not belong together. Restore both from backups of one vault.');
  }
  // The log belongs to this vault, so we now read the id again and verify its MAC.
  if (!acceptsOlderLog) await logIdentity(stores.log);
  if (mode === 'production' && identity.dev) {
    throw new StoreBroken(
      'this data was created by --dev and is not for real use. Start it with `strongroom serve --dev --data ' +
        `${shellWord(dataDir)}\` and the same --root-key-file, or choose another directory with --data.`,
    );
  }
  if (mode === 'dev' && !identity.dev) {
    throw new StoreBroken(
      'this data was not created by --dev. Start it without --dev, or choose another directory with --data.',
    );
  }
  return identity.logId;
}
