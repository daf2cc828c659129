import { memoryRateLimits } from '../adapters/memory/memory-rate-limits.js';
import { prometheusMetrics } from '../adapters/prometheus/prometheus-metrics.js';
import { readLastBackup } from '../adapters/sqlite/backup/last-backup.js';
import { StoreBroken } from '../adapters/sqlite/database-error.js';
import { openSqliteStores } from '../adapters/sqlite/open-stores.js';
import { onceAMinute } from '../adapters/time-limit/once-a-minute.js';
import { type Checkpointer, createCheckpointer } from '../audit/checkpointer.js';
import { createKnownCallers } from '../commands/directory/known-callers.js';
import { type LimitSettings, noLimits } from '../commands/limits/limit-settings.js';
import { expectNotBehind, noteLogHead } from '../commands/log-behind.js';
import { logIdentity, openLog } from '../commands/open-log.js';
import { rebuildStatus } from '../jobs/rebuild/rebuild-status.js';
import { shredWithNotice } from '../jobs/shredder.js';
import { createSweep, type Sweep } from '../jobs/sweep.js';
import type { Anchor } from '../ports/anchor.js';
import type { Clock } from '../ports/clock.js';
import type { Random } from '../ports/random.js';
import { projectionVersions, type StoredProjection } from '../projections/versions.js';
import { composeVault, systemRandom } from './compose-vault.js';
import { takeDataDirectory } from './data-directory.js';
import { embeddedProjections, outdatedProjections } from './embedded-projections.js';
import { embeddedState } from './embedded-state.js';
import { makeAnew } from './make-anew.js';
import type { OpenService } from './open-service.js';

export type EmbeddedOptions = {
  readonly dataDir: string;
  readonly rootKey: Buffer;
  /** What a rotation that was cut off may have put the keys under. */
  readonly nextRootKey?: Buffer | null;
  /** `dev` and `production` refuse data that the other made; `any` takes both, for verbs of the command line. */
  readonly mode: 'dev' | 'production' | 'any';
  /** Opens also a log that is behind its keys, to bring both in line. */
  readonly acceptsOlderLog?: boolean;
  readonly cvcRetentionMs: number;
  /** None without it, as for verbs of the command line. */
  readonly limits?: LimitSettings;
  /** What gets the signed checkpoints; null: nothing. */
  readonly anchor?: Anchor | null;
  readonly clock?: Clock;
  readonly random?: Random;
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

const systemClock: Clock = { now: () => Date.now() };

/**
 * The embedded profile: all ports on the two SQLite files of one data directory, which belong to this process until
 * `close`. When it resolves, every key that an event ended is destroyed. Throws StoreBroken with what to do.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, rootKey, clock = systemClock, random = systemRandom, limits = noLimits } = options;
  const { onNotice = () => undefined, keptMs = keptRowsMs } = options;
  const metrics = prometheusMetrics();
  const lock = await takeDataDirectory(dataDir);
  try {
    let outdated: readonly StoredProjection[] = [];
    const stores = await openSqliteStores(
      ...([dataDir, rootKey, clock, options.onBroken, metrics.groupCommitted, options.nextRootKey] as const),
    );
    let logId: string;
    try {
      logId = await identify(stores, options.mode, random, clock);
      await expectNotBehind(stores, options.acceptsOlderLog ?? false);
      outdated = await outdatedProjections(stores);
      if (outdated.includes('shredder')) await stores.keys.saveCheckpoint('shredder', 0);
      await shredWithNotice(stores.log, stores.keys, onNotice);
      if (outdated.includes('shredder')) await stores.generations.saveVersion('shredder', projectionVersions.shredder);
    } catch (error) {
      await stores.close();
      throw error;
    }
    const rateLimits = memoryRateLimits(clock);
    const { onError, cvcRetentionMs } = options;
    const { vault, recorder, service, lostKeys, backgroundFailed } = composeVault(stores, {
      ...{ clock, random, metrics, rateLimits, limits, onError, cvcRetentionMs },
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
      return embeddedState(stores, lostKeys(), recorder.isWritable(), running, await readLastBackup(dataDir));
    };
    const needs = { vault, stores, dataDir, keptMs, state, onError: onBackgroundError };
    const rebuildOf = embeddedProjections(needs);
    const { tokens, projections } = rebuildOf;
    if (outdated.includes('directory')) {
      onNotice('the directory was made by an older version and is made anew');
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
      start() {
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
        // What is not noted now only shows a little less.
        await noteLogHead(stores).catch(() => undefined);
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
  stores: Awaited<ReturnType<typeof openSqliteStores>>,
  mode: EmbeddedOptions['mode'],
  random: Random,
  clock: Clock,
): Promise<string> {
  const identity = await logIdentity(stores.log);
  const logIdOfKeys = stores.logIdOfKeys();
  if (identity === null) {
    // The key store remembers a log that was about to be opened when the process died: it is opened under that id.
    const logId = logIdOfKeys ?? random.uuid();
    if (logIdOfKeys === null) await stores.bindKeysToLog(logId);
    await openLog(stores.log, random, { dev: mode === 'dev', at: clock.now(), logId });
    return logId;
  }
  if (identity.logId !== logIdOfKeys) {
    throw new StoreBroken('vault.db and keys.db do not belong together. Restore both from backups of one vault.');
  }
  if (mode === 'production' && identity.dev) {
    throw new StoreBroken('this data was made by --dev and is not for real use. Choose another one with --data.');
  }
  if (mode === 'dev' && !identity.dev) {
    throw new StoreBroken(
      'this data was not made by --dev. Start it without --dev, or choose another one with --data.',
    );
  }
  return identity.logId;
}
