import { setImmediate as nextTurn } from 'node:timers/promises';
import { forgottenBefore } from '../commands/idempotency.js';
import { recordDue } from '../commands/tokens/record-due.js';
import { atMost } from '../domain/at-most.js';
import type { AccessLog } from '../ports/access-log.js';
import { earliestForCodes, earliestNow, steadyNow } from '../ports/clock.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { shredEndedKeys } from '../projections/shredder.js';
import { noteLog } from '../vault/log-behind.js';
import type { Vault } from '../vault/vault.js';
import { destroyOrphanKeys } from './orphan-keys.js';

const dueRowsMax = 500;
/** The number of tokens that can share a commit, or a server's connections, without exceeding the time limits. */
const recordedAtOnce = 64;
/** The maximum time between two rounds. */
const roundMs = 20_000;
const housekeepingMs = 60_000;
const tombstoneMs = 7 * 24 * 3_600_000;
const orphanSearchMs = 3_600_000;
const waitMsMin = 5;

export type Sweep = {
  /** Runs everything that is due now. Returns the number of rows that were due. */
  run(): Promise<number>;
  /** Tells the sweep that a token is due at this time, in ms since the epoch. */
  dueAt(dueAt: number): void;
  start(): void;
  stop(): Promise<void>;
};

/**
 * Records expiries and cvc purges when rows are due. Also does housekeeping: destroys ended keys that commands could
 * not destroy, removes old claims and tombstones, and destroys orphan keys. No read depends on the sweep. Reports a
 * failure to `onError` and retries in the next round. `projectedUpTo` returns the log position that the rows have
 * reached.
 */
export function createSweep(
  vault: Vault,
  forgetTombstones: (notBefore: number) => Promise<unknown>,
  onError: (error: unknown) => void,
  projectedUpTo = async (): Promise<number> => Number.POSITIVE_INFINITY,
): Sweep {
  let timer: NodeJS.Timeout | null = null;
  let wakesAt = Number.POSITIVE_INFINITY;
  let running: Promise<unknown> = Promise.resolve();
  let stopped = true;
  let stopping = false;
  let keptHouseAt = Number.NEGATIVE_INFINITY;
  let soughtOrphansAt = Number.NEGATIVE_INFINITY;

  async function run(): Promise<number> {
    let recorded = 0;
    for (;;) {
      const due = await vault.rows.due(earliestNow(vault.clock), dueRowsMax, earliestForCodes(vault.clock));
      const failed = await recordAll(due);
      recorded += due.length;
      if (due.length < dueRowsMax || failed > 0 || stopping) return recorded;
      // Lets requests run in between, because recording rows that are no longer due may never yield.
      await nextTurn();
    }
  }

  /** Records all due rows, even if some of them fail. Returns the number of failures. */
  async function recordAll(due: Awaited<ReturnType<Vault['rows']['due']>>): Promise<number> {
    let failed = 0;
    await atMost(recordedAtOnce, due, async (row) => {
      try {
        await recordDue(vault, row);
      } catch (error) {
        failed += 1;
        onError(error);
      }
    });
    return failed;
  }

  async function keepHouse(): Promise<void> {
    const steady = steadyNow(vault.clock);
    if (steady - keptHouseAt < housekeepingMs) return;
    keptHouseAt = steady;
    // Removing a claim, a tombstone or a key cannot be undone, so this uses the earliest possible time.
    const now = earliestNow(vault.clock);
    await shredEndedKeys(vault.log, vault.keys, await projectedUpTo());
    await noteLog(vault);
    await vault.claims.forget(forgottenBefore(now));
    await forgetTombstones(now - tombstoneMs);
    await dropOldAccess(vault.accessLog, now);
    if (steady - soughtOrphansAt < orphanSearchMs) return;
    soughtOrphansAt = steady;
    await destroyOrphanKeys(vault, now);
  }

  async function round(): Promise<void> {
    try {
      await run();
      await keepHouse();
    } catch (error) {
      onError(error);
    }
    const dueAt = await nextDueAt();
    // Checked last, because stop() may have been called during any of the waits.
    if (!stopped) schedule(Math.min(dueAt ?? Number.POSITIVE_INFINITY, vault.clock.now() + roundMs));
  }

  async function nextDueAt(): Promise<number | null> {
    try {
      return await vault.rows.nextDueAt();
    } catch (error) {
      onError(error);
      return null;
    }
  }

  function schedule(at: number): void {
    if (timer !== null) clearTimeout(timer);
    wakesAt = at;
    const now = vault.clock.now();
    // A row that is still due has just failed, or is not due by every clock yet. Waiting avoids a busy loop.
    const waitMs = at <= now ? 1_000 : Math.min(Math.max(at - now, waitMsMin), roundMs);
    timer = setTimeout(() => {
      wakesAt = Number.POSITIVE_INFINITY;
      // Rounds run one after another, so stop() only waits for the last one.
      running = running.then(round);
    }, waitMs);
  }

  return {
    run,
    dueAt(at: number): void {
      if (!stopped && at < wakesAt && at > vault.clock.now()) schedule(at);
    },
    start(): void {
      stopped = false;
      running = running.then(round);
    },
    async stop(): Promise<void> {
      stopped = true;
      stopping = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}

const monthsKept = 13;

/**
 * Drops access log months that are entirely older than 13 months. If the store is unavailable, a later round drops
 * them.
 */
export async function dropOldAccess(log: AccessLog, now: number): Promise<void> {
  const today = new Date(now);
  try {
    await log.dropMonths(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsKept, 1));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
