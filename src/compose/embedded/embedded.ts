import type { TraceUseLimits } from '../../adapters/key-ring/trace-uses.js';
import { memoryRateLimits } from '../../adapters/memory/memory-rate-limits.js';
import { prometheusMetrics } from '../../adapters/prometheus/prometheus-metrics.js';
import { readLastBackup } from '../../adapters/sqlite/backup/last-backup.js';
import { StoreBroken } from '../../adapters/sqlite/database/database-error.js';
import { lostVault } from '../../adapters/sqlite/database/prepare-stores.js';
import { onceAMinute } from '../../adapters/time-limit/once-a-minute.js';
import { type Checkpointer, createCheckpointer } from '../../audit/checkpointer.js';
import { expectContinuity, unlessForged } from '../../audit/continuity.js';
import { createSweep, type Sweep } from '../../jobs/sweep.js';
import type { Anchor } from '../../ports/anchor.js';
import type { Clock } from '../../ports/clock.js';
import type { Random } from '../../ports/random.js';
import type { Spans } from '../../ports/spans.js';
import { rebuildStatus } from '../../projections/rebuild/rebuild-status.js';
import { shredWithNotice } from '../../projections/shredder.js';
import { createKnownCallers } from '../../vault/known-callers.js';
import { type LimitSettings, noLimits } from '../../vault/limit-settings.js';
import { expectNotBehind, noteLog } from '../../vault/log-behind.js';
import { logIdentity, openLog } from '../../vault/open-log.js';
import { projectionVersions, type StoredProjection } from '../../views/versions.js';
import { composeVault, systemRandom } from '../vault/compose-vault.js';
import { type GuardedClock, guardedClock, holdNotices, lateClock, newestEventTime } from '../vault/guarded-clock.js';
import { makeAnew } from '../vault/make-anew.js';
import type { OpenService } from '../vault/open-service.js';
import { systemClock } from '../vault/system-clock.js';
import { takeDataDirectory } from './data-directory.js';
import { diskReserve, reserveBytesDefault } from './disk-reserve.js';
import { embeddedProjections, outdatedProjections } from './embedded-projections.js';
import { embeddedState } from './embedded-state.js';
import { type EmbeddedStores, openAuthenticStores } from './embedded-stores.js';

export type EmbeddedOptions = {
  readonly dataDir: string;
  readonly rootKey: Buffer;
  /** What a rotation that was cut off may have put the keys under. */
  readonly nextRootKey?: Buffer | null;
  /** `dev` and `production` refuse data that the other made; `any` takes both, for verbs of the command line. */
  readonly mode: 'dev' | 'production' | 'any';
  /** Opens also a log that is behind its keys or does not go on from them, to look at it or to bring both in line. */
  readonly acceptsOlderLog?: boolean;
  readonly cvcRetentionMs: number;
  /** None without it, as for verbs of the command line. */
  readonly limits?: LimitSettings;
  /** What gets the signed checkpoints; null: nothing. */
  readonly anchor?: Anchor | null;
  readonly clock?: Clock;
  /** How much of the disk is kept for deletes and reveals. */
  readonly reserveBytes?: number;
  /** Tests rotate the keys of traces early. */
  readonly traceLimits?: TraceUseLimits;
  readonly random?: Random;
  /** Null: no traces are recorded. */
  readonly spans?: Spans | null;
  /** How long the rows are kept that were read before a rebuild, ms; a minute. */
  readonly keptMs?: number;
  /** Something that who runs the service should read in its log. */
  readonly onNotice?: (text: string) => void;
  /** A failure that no request caused. */
  readonly onError: (error: unknown) => void;
  /** The stores can no longer be written: the process must end. */
  readonly onBroken: (error: StoreBroken) => void;
};

export type Embedded = OpenService & {
  readonly sweep: Sweep;
  readonly checkpointer: Checkpointer;
};

/** For searches that began on the rows that were read before a rebuild. */
export const keptRowsMs = 60_000;

/**
 * The embedded profile: all ports on the two SQLite files of one data directory, which belong to this process until
 * `close`. When it resolves, every key that an event ended is destroyed. Throws StoreBroken with what to do.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, rootKey, random = systemRandom, limits = noLimits } = options;
  const { onNotice = () => undefined, keptMs = keptRowsMs, acceptsOlderLog = false, onError } = options;
  const bareClock = options.clock ?? systemClock();
  let guard: GuardedClock | null = null;
  // The stores need a clock before the record is read that says whether to trust it, and destroy nothing until then.
  const clock = lateClock(bareClock, () => guard);
  const metrics = prometheusMetrics();
  const lock = await takeDataDirectory(dataDir, options.mode === 'dev');
  try {
    let outdated: readonly StoredProjection[] = [];
    const stores = await openAuthenticStores(
      ...([dataDir, rootKey, clock, options.onBroken, metrics.groupCommitted] as const),
      ...([options.nextRootKey, options.traceLimits] as const),
    );
    let logId: string;
    try {
      logId = await identify(stores, options, random, clock);
      await expectNotBehind(stores, acceptsOlderLog);
      if (!acceptsOlderLog) await expectContinuity(stores);
      guard = await guardedClock({
        clock: bareClock,
        records: stores.clockRecords,
        newestEvent: await newestEventTime(stores.log, acceptsOlderLog),
        onError,
        onNotice,
      });
      outdated = await outdatedProjections(stores);
      if (outdated.includes('shredder')) await stores.keys.saveCheckpoint('shredder', 0);
      await unlessForged(shredWithNotice(stores.log, stores.keys, onNotice), acceptsOlderLog);
      if (outdated.includes('shredder')) await stores.generations.saveVersion('shredder', projectionVersions.shredder);
    } catch (error) {
      await stores.close();
      throw error;
    }
    const rateLimits = memoryRateLimits(clock);
    const { cvcRetentionMs } = options;
    const reserve = diskReserve(dataDir, options.reserveBytes ?? reserveBytesDefault);
    const guarded = { ...stores, work: reserve.guardWork(stores.work), keys: reserve.guardKeys(stores.keys) };
    const held = guard;
    const { vault, recorder, service, damage, backgroundFailed } = composeVault(guarded, {
      integrity: await stores.keys.integrityKeys(),
      ...{ clock, random, metrics, rateLimits, limits, onError, cvcRetentionMs },
      spans: options.spans ?? null,
      systems: { log: 'sqlite', rows: 'sqlite' },
      // One timer wakes the sweep, and it names no token.
      timers: { set: ({ dueAt }) => sweep.dueAt(dueAt), clear: () => undefined, pending: async () => 0 },
      knownCallers: createKnownCallers(),
      confirmReads: async () => undefined,
    });
    const onBackgroundError = (error: unknown): void => {
      backgroundFailed(error);
      onError(error);
    };
    const sweep = createSweep(vault, stores.forgetTombstones, onBackgroundError);
    const state = async () => {
      // A store that does not answer tells nothing of a rebuild either.
      const { running } = rebuildStatus(await stores.generations.rebuild().catch(() => null));
      const notices = holdNotices(held.hold());
      return embeddedState(stores, damage(), recorder.isWritable(), running, notices, await readLastBackup(dataDir));
    };
    const needs = { vault, stores, dataDir, keptMs, state, onError: onBackgroundError };
    const rebuildOf = embeddedProjections(needs);
    const { tokens, projections } = rebuildOf;
    if (outdated.includes('directory')) {
      onNotice('the directory was built by an older version and is being rebuilt');
      await projections.rebuild('directory', true);
    }
    const { anchor = null } = options;
    const report = onceAMinute(onError);
    const checkpointer = createCheckpointer({
      ...{ ...vault, metrics, logId, anchor },
      onError(error) {
        backgroundFailed(error);
        report(error);
      },
    });
    return {
      ...{ ...service, sweep, checkpointer, projections, state },
      confirmClock: async () => ((await held.confirm()) ? 'confirmed' : 'trusted'),
      start() {
        held.start();
        sweep.start();
        checkpointer.start();
        const rows = outdated.filter((name) => name === 'tokens');
        makeAnew({ tokens, projections }, rows, onNotice).catch(onBackgroundError);
      },
      async close() {
        await tokens.stop();
        await sweep.stop();
        await vault.vocabularies.idle();
        await recorder.close();
        await checkpointer.stop();
        // The next start need not read it then: after an import that is all of it.
        await shredWithNotice(stores.log, stores.keys, onNotice).catch(() => undefined);
        // What is not noted now only shows a little less. Threat: a log that is only looked at may be a forged one.
        if (!acceptsOlderLog) await noteLog(stores).catch(() => undefined);
        await held.stop();
        await stores.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Names a new log in both stores and answers its id; refuses stores that do not belong together, or to this way of starting. */
async function identify(
  stores: EmbeddedStores,
  { mode, acceptsOlderLog = false }: Pick<EmbeddedOptions, 'mode' | 'acceptsOlderLog'>,
  random: Random,
  clock: Clock,
): Promise<string> {
  // The log of another vault is no forged one: it has codes under keys of its own.
  const identity = await logIdentity(stores.storedLog);
  const logIdOfKeys = stores.logIdOfKeys();
  if (identity === null) {
    // Threat: a log that was emptied, or whose first event was taken away, would begin anew.
    if ((await stores.keys.logMemory()).link !== null) {
      if (acceptsOlderLog && logIdOfKeys !== null) return logIdOfKeys;
      throw lostVault();
    }
    // The key store remembers a log that was about to be opened when the process died: it is opened under that id.
    const logId = logIdOfKeys ?? random.uuid();
    if (logIdOfKeys === null) await stores.bindKeysToLog(logId);
    await openLog(stores.log, random, { dev: mode === 'dev', at: clock.now(), logId });
    return logId;
  }
  if (identity.logId !== logIdOfKeys) {
    throw new StoreBroken('vault.db and keys.db do not belong together. Restore both from backups of one vault.');
  }
  // Once more, with its code verified.
  if (!acceptsOlderLog) await logIdentity(stores.log);
  if (mode === 'production' && identity.dev) {
    throw new StoreBroken(
      'this data was created by --dev and is not for real use. Choose another directory with --data.',
    );
  }
  if (mode === 'dev' && !identity.dev) {
    throw new StoreBroken(
      'this data was not created by --dev. Start it without --dev, or choose another directory with --data.',
    );
  }
  return identity.logId;
}
