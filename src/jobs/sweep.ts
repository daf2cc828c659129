import { setImmediate as nextTurn } from 'node:timers/promises';
import { noteLog } from '../commands/log-behind.js';
import { forgottenBefore } from '../commands/once.js';
import { recordDue } from '../commands/tokens/record-due.js';
import type { Vault } from '../commands/vault.js';
import { atMost } from '../domain/at-most.js';
import { earliestForCodes, earliestNow, steadyNow } from '../ports/clock.js';
import { dropOldAccess } from './drop-old-access.js';
import { destroyOrphanKeys } from './orphan-keys.js';
import { shredEndedKeys } from './shredder.js';

const dueRowsMax = 500;
/** So many share a commit, or the connections of a server, without one of them waiting beyond its limit. */
const recordedAtOnce = 64;
/** How often the sweep looks even when nobody woke it. */
const roundMs = 20_000;
const housekeepingMs = 60_000;
const tombstoneMs = 7 * 24 * 3_600_000;
const orphanSearchMs = 3_600_000;
const waitMsMin = 5;

export type Sweep = {
  /** Runs everything that is due now and answers how many events it recorded or tried to. */
  run(): Promise<number>;
  /** Something is due at this time, in ms since the epoch. */
  dueAt(dueAt: number): void;
  start(): void;
  stop(): Promise<void>;
};

/**
 * Records expiry and cvc purge by the due times of the rows, woken by the next of them; and keeps house: shreds what
 * commands could not, forgets old claims and tombstones, looks for orphan keys. Reads never depend on it. `onError` is
 * told of a failure; the next round tries again. `projectedUpTo`: the position in the log that rows have come to.
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
      // Lets requests in between, also when the rows name what is not due any more.
      await nextTurn();
    }
  }

  /** One that fails must not keep the others waiting. Answers how many failed. */
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
    // What is forgotten here is gone for good, like what is destroyed.
    const now = earliestNow(vault.clock);
    await shredEndedKeys(vault.log, vault.keys, await projectedUpTo());
    await noteLog(vault);
    await vault.claims.forget(forgottenBefore(now));
    await forgetTombstones(now - tombstoneMs);
    await dropOldAccess(vault.accessLog, now);
    if (steady - soughtOrphansAt < orphanSearchMs) return;
    soughtOrphansAt = steady;
    await destroyOrphanKeys(vault.log, vault.keys, now);
  }

  async function round(): Promise<void> {
    try {
      await run();
      await keepHouse();
    } catch (error) {
      onError(error);
    }
    const dueAt = await nextDueAt();
    // Asked last: stop() may have come during any wait.
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
    // What is due and still there has failed just now: no busy loop.
    const waitMs = at <= now ? 1_000 : Math.min(Math.max(at - now, waitMsMin), roundMs);
    timer = setTimeout(() => {
      wakesAt = Number.POSITIVE_INFINITY;
      // One after the other: stop() waits for the last, and that has waited for all before it.
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
