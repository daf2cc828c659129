import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { commitAlone, type GroupCommit } from '../database/group-commit.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import { ofBothSlots } from '../database/rows-schema.js';
import { IndexDamaged } from '../search-index/entries.js';
import { createIndexKeeper, type IndexKeeper } from '../search-index/index-keeper.js';

/** How long maintenance steps may delay other requests, in ms. */
const sliceMs = 3;
/**
 * How long removed postings wait before they are erased, in ms. The wait makes it possible to erase the postings of
 * many tokens from a block together.
 */
const removalWaitMs = 10_000;
/**
 * How long after a group of requests the maintenance looks for steps, in ms. Looking takes as long as storing part of a
 * token, and a step is due only after hundreds of tokens.
 */
const lookAfterMs = 20;
/** How long to wait after a failed step, in ms. A step can fail because the disk is full, for example. */
const retryMs = 1_000;
/** If all slices have failed for this long, an erasure that a caller waits for fails, in ms. */
const failingMsMax = 2_000;

/** The index of one generation. Postings removed by changes up to `eraseUpTo` are erased before most other steps. */
type Kept = { readonly index: IndexKeeper; eraseUpTo: number; damage: IndexDamaged | null };

type MaintenanceDeps = {
  readonly database: SqliteDatabase;
  readonly commitGroup: GroupCommit;
  /** Called when `vault.db` itself no longer contains removed postings. Its write-ahead log can still contain them. */
  readonly onErased: () => void;
  /** Called when an index is found to be damaged, and with null when no index is damaged any longer. */
  readonly onDamaged: (damage: IndexDamaged | null) => void;
  /** Called when `vault.db` can no longer be written. */
  readonly onBroken: (error: unknown) => void;
};

/**
 * Maintains the search indexes in `vault.db`, in short transactions between groups of requests. A damaged index is not
 * maintained any longer, so removed postings are not erased from it. A rebuild recreates the index.
 */
export function createIndexMaintenance({ database, commitGroup, onErased, onDamaged, onBroken }: MaintenanceDeps) {
  const kept = ofBothSlots((slot): Kept => ({ index: createIndexKeeper(database, slot), eraseUpTo: 0, damage: null }));
  let next: NodeJS.Immediate | null = null;
  let timer: NodeJS.Timeout | null = null;
  let looking: NodeJS.Timeout | null = null;
  let isEraseDue = false;
  let isBehind = false;
  let wasClean = true;
  let isClosed = false;
  /** Why the last slice failed, and since when all slices have failed. Null if the last slice succeeded. */
  let failed: { readonly error: StoreUnavailable; readonly since: number } | null = null;

  function stepOf(each: Kept): boolean {
    if (each.damage !== null) {
      if (!each.index.isEmpty()) return false;
      noteDamage(each, null);
    }
    if (each.index.hasManyRemovals()) each.eraseUpTo = each.index.last();
    try {
      return each.index.step(each.eraseUpTo);
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      noteDamage(each, error);
      return false;
    }
  }

  function noteDamage(each: Kept, damage: IndexDamaged | null): void {
    each.damage = damage;
    onDamaged(kept.find((one) => one.damage !== null)?.damage ?? null);
  }

  /**
   * Performs steps for a few ms in one transaction, and at least one step, even if the transaction took longer to begin.
   * Returns true if there are more steps to perform. Throws StoreUnavailable.
   */
  function slice(): boolean {
    const until = performance.now() + sliceMs;
    const attempt = commitAlone(commitGroup, () => {
      if (isEraseDue) for (const each of kept) each.eraseUpTo = each.index.last();
      isEraseDue = false;
      let isMore: boolean;
      do isMore = kept.map(stepOf).includes(true);
      while (isMore && performance.now() < until);
      return isMore;
    });
    if (attempt.ok) return attempt.answer === true;
    for (const { index } of kept) index.forget();
    isEraseDue = true;
    throw attempt.error;
  }

  function run(): void {
    next = null;
    if (isClosed) return;
    try {
      // Combining erases removals early, possibly before any look has noticed them.
      wasClean &&= isAllClean();
      const isMore = slice();
      failed = null;
      isBehind = reading(() => kept.some(({ index, damage }) => damage === null && index.isBehind()));
      if (isMore) proceed();
      else noteErased();
    } catch (error) {
      // If a merge has failed because the disk is full, writes do not have to wait for merges: they fail for the same
      // reason anyway.
      isBehind = false;
      if (error instanceof StoreUnavailable) {
        failed = { error, since: failed?.since ?? performance.now() };
        wait(retryMs);
      } else onBroken(error);
    }
  }

  function isAllClean(): boolean {
    return reading(() => kept.every(({ index, damage }) => damage !== null || index.isClean()));
  }

  function noteErased(): void {
    const isClean = isAllClean();
    if (isClean && !wasClean) onErased();
    wasClean = isClean;
    if (!isClean) wait(removalWaitMs);
  }

  function wait(ms: number): void {
    timer ??= setTimeout(() => {
      timer = null;
      eraseAll();
    }, ms);
  }

  function proceed(): void {
    if (!isClosed) next ??= setImmediate(run);
  }

  function lookSoon(): void {
    if (isClosed || next !== null) return;
    looking ??= setTimeout(() => {
      looking = null;
      proceed();
    }, lookAfterMs);
  }

  function eraseAll(): void {
    isEraseDue = true;
    wasClean = false;
    proceed();
  }

  /** Stops maintenance. `vault.db` is not accessed again after this call. */
  function stop(): void {
    isClosed = true;
    if (next !== null) clearImmediate(next);
    for (const each of [timer, looking]) if (each !== null) clearTimeout(each);
  }

  return {
    /** Call this after each group of requests to `vault.db`. */
    lookSoon,
    /**
     * Erases all postings that have been removed so far. Call this when the process starts. Removal times are not
     * stored, so postings that an earlier process removed are erased immediately.
     */
    eraseAll,
    /**
     * Returns true if the blocks and changes no longer contain postings removed by changes up to the numbers in `upTo`.
     * Otherwise, begins to erase these postings and returns false. If this has failed for two seconds, for example
     * because the disk is full, throws StoreUnavailable until a retry succeeds. Repeat the call until it returns true.
     */
    erase(upTo: readonly number[]): boolean {
      const isErased = kept.every(({ index, damage }, slot) => damage !== null || index.isErased(upTo[slot] ?? 0));
      if (isErased) return true;
      wasClean = false;
      for (const [slot, each] of kept.entries()) each.eraseUpTo = Math.max(each.eraseUpTo, upTo[slot] ?? 0);
      // After a failure, the timer starts the next slice.
      if (failed === null) proceed();
      else if (performance.now() - failed.since >= failingMsMax) throw failed.error;
      return false;
    },
    /**
     * Returns true if writes must wait because merges are too slow. The result is updated after each slice of
     * maintenance.
     */
    isBehind: (): boolean => isBehind,
    /** Erases removed postings from `vault.db`, and stops maintenance. */
    close(): void {
      eraseAll();
      try {
        while (!isAllClean()) slice();
      } catch (error) {
        // Ignores StoreUnavailable errors, such as those caused by a full disk. The next start continues the erasure.
        if (!(error instanceof StoreUnavailable)) throw error;
      } finally {
        stop();
      }
    },
    stop,
  };
}
