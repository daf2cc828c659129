import { setImmediate as nextTurn } from 'node:timers/promises';
import { forgottenBefore } from '../commands/idempotency.js';
import { recordDue } from '../commands/tokens/record-due.js';
import type { ChangeTokensDeps } from '../commands/write-path.js';
import { atMost } from '../domain/at-most.js';
import { keptFrom } from '../events/access-log/retention.js';
import type { AccessLog } from '../ports/access-log.js';
import { earliestForCodes, earliestNow, steadyNow } from '../ports/clock.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import type { DueRow } from '../ports/token-rows.js';
import { shredEndedKeys } from '../projections/shredder.js';
import { noteLog } from '../vault/log-behind.js';
import type { Vault } from '../vault/vault.js';
import { destroyOrphanKeys } from './orphan-keys.js';
import { repeated } from './repeated.js';

type SweepDeps = ChangeTokensDeps & Pick<Vault, 'accessLog' | 'chain' | 'claims' | 'unfinishedErasures'>;

const dueRowsMax = 500;
/** In each run, the sweep reads on past at most this many rows that remain due. */
const remainingMax = 5_000;
/**
 * The number of due rows that are recorded at the same time. In an embedded store, these rows share a commit. With a
 * store server, they share the connections. In both cases, this many rows can be recorded within the store's time
 * limits.
 */
const recordedAtOnce = 64;
/** The maximum time between two rounds, in ms. This is also the time after which a failed step is tried again. */
const roundMs = 20_000;
const housekeepingMs = 60_000;
const tombstoneMs = 7 * 24 * 3_600_000;
const orphanSearchMs = 3_600_000;
const waitMsMin = 5;

export type Sweep = {
  /** Records all expiries and purges that are due now. Returns the number of rows that were due. */
  run(): Promise<number>;
  /** Schedules a round for the time when a token is due (in ms since the epoch), if no earlier round is scheduled. */
  dueAt(dueAt: number): void;
  start(): void;
  stop(): Promise<void>;
};

/**
 * Records expiries and cvc purges when rows are due. The sweep also does housekeeping: it destroys ended keys that
 * commands failed to destroy, destroys orphan keys, and removes old claims, tombstones and access log entries. Reads do
 * not depend on the sweep.
 *
 * If a step fails, the sweep reports the error to `onError` and continues with the other steps. A failed step of the
 * housekeeping is retried after 20 seconds. The delay doubles with each failure, up to the interval at which the step
 * is repeated when it succeeds. `projectedUpTo` returns the log position up to which the rows are up to date.
 */
export function createSweep(
  vault: SweepDeps,
  forgetTombstones: (notBefore: number) => Promise<unknown>,
  onError: (error: unknown) => void,
  projectedUpTo = async (): Promise<number> => Number.POSITIVE_INFINITY,
): Sweep {
  let timer: NodeJS.Timeout | null = null;
  let wakesAt = Number.POSITIVE_INFINITY;
  let running: Promise<unknown> = Promise.resolve();
  /** True if a round is waiting for the end of the current one. */
  let isQueued = false;
  let stopped = true;
  let stopping = false;
  /** The number of due rows that could not be recorded in the current round. */
  let failures = 0;
  /** True if the current round read past rows that remain due. */
  let isReadPast = false;
  /** When the last successful pass of the shredder over the whole log began (`performance.now()`). */
  let shreddedAt = Number.NEGATIVE_INFINITY;
  // The removal of a claim, a tombstone or a key cannot be undone. Housekeeping therefore uses the earliest possible
  // current time.
  const earliest = (): number => earliestNow(vault.clock);
  const every = (intervalMs: number, work: () => Promise<unknown>) =>
    repeated({ now: () => steadyNow(vault.clock), intervalMs, retryMs: roundMs, retryMsMax: intervalMs }, work);
  const housekeeping = [
    every(housekeepingMs, shred),
    every(housekeepingMs, () => noteLog(vault)),
    every(housekeepingMs, () => vault.claims.forget(forgottenBefore(earliest()))),
    every(housekeepingMs, () => forgetTombstones(earliest() - tombstoneMs)),
    every(housekeepingMs, () => dropOldAccess(vault.accessLog, earliest())),
    every(orphanSearchMs, async () => {
      const { isComplete } = await destroyOrphanKeys(vault, earliest());
      // The search continues in the next round, so that tokens expire in time meanwhile.
      return isComplete ? null : 'unfinished';
    }),
  ];

  async function run(): Promise<number> {
    let recorded = 0;
    // Threat: an attacker who can write to the rows plants due rows that belong to no token, or that fail. They remain
    // due, so the sweep must read on past them, and must end although there are always more of them.
    const remaining = new Set<string>();
    let before = new Set<string>();
    failures = 0;
    isReadPast = false;
    for (;;) {
      const limit = dueRowsMax + remaining.size;
      const found = await vault.rows.due(earliestNow(vault.clock), limit, earliestForCodes(vault.clock));
      for (const name of found.map(nameOf)) if (before.has(name)) remaining.add(name);
      isReadPast = remaining.size > 0;
      const due = found.filter((row) => !remaining.has(nameOf(row)));
      const isDown = await recordAll(due);
      recorded += due.length;
      if (found.length < limit || remaining.size > remainingMax || isDown || stopping) return recorded;
      before = new Set(due.map(nameOf));
      // Lets requests run between two batches. Without this, a long series of rows that are no longer due could block
      // the thread.
      await nextTurn();
    }
  }

  /** Tries to record all due rows, even if some of them fail. Returns true if a store is unavailable. */
  async function recordAll(due: Awaited<ReturnType<Vault['rows']['due']>>): Promise<boolean> {
    let isDown = false;
    await atMost(recordedAtOnce, due, async (row) => {
      try {
        await recordDue(vault, row);
      } catch (error) {
        failures += 1;
        if (error instanceof StoreUnavailable) isDown = true;
        // Threat: an attacker damages many rows to fill the service's log.
        if (failures <= dueRowsMax) onError(error);
      }
    });
    return isDown;
  }

  /**
   * Destroys ended keys, including those that deletions of tokens failed to destroy, so these deletions need not be
   * finished later. A failed deletion is forgotten only after two passes over the whole log that began after it failed,
   * because its event may be appended after the first of them has read the end of the log.
   */
  async function shred(): Promise<void> {
    const began = performance.now();
    const head = await vault.log.head();
    const upTo = await projectedUpTo();
    await shredEndedKeys(vault.log, vault.keys, upTo);
    // If rows are missing, the shredder has not read all events.
    if (upTo < head) return;
    vault.unfinishedErasures.forgetBefore(shreddedAt);
    shreddedAt = began;
  }

  async function round(): Promise<void> {
    for (const step of [run, ...housekeeping]) {
      try {
        await step();
      } catch (error) {
        onError(error);
        // Each step may wait for a store that does not respond. A sweep that is being stopped waits only once.
        if (stopping) break;
      }
    }
    // A row that could not be recorded is still due, and is tried again in the next regular round. Threat: an attacker
    // damages or plants many rows, and each of them is tried every second.
    const dueAt = failures > 0 || isReadPast ? null : await nextDueAt();
    // This check comes last, because stop() may have been called while this function waited.
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
    // A row can still be due after a round, because it is not due yet at the earliest possible current time
    // (`earliestNow`). The wait avoids a busy loop.
    const waitMs = at <= now ? 1_000 : Math.min(Math.max(at - now, waitMsMin), roundMs);
    timer = setTimeout(() => {
      wakesAt = Number.POSITIVE_INFINITY;
      if (isQueued) return;
      isQueued = true;
      // Rounds run one after another, so stop() only has to wait for the last round.
      running = running.then(() => {
        isQueued = false;
        return stopped ? undefined : round();
      });
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

function nameOf({ stream, due }: DueRow): string {
  return `${due} ${stream}`;
}

/** Removes the calendar months of the access log that ended at least 13 months ago. */
export async function dropOldAccess(log: Pick<AccessLog, 'dropMonths'>, now: number): Promise<void> {
  await log.dropMonths(keptFrom(now), now);
}
