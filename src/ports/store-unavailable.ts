import { constants } from 'node:os';
import type { FoundProblem } from './store-problem.js';

/** The store that work waits for, and the reason why the store is unavailable. */
export type WaitsFor = Pick<StoreUnavailable, 'store' | 'reason'>;

/**
 * Thrown when a store cannot do its work because it is busy, full or unreachable. Adapters throw it in place of their
 * library's errors. The request then fails with 503, and no change has been acknowledged. `reason` is a word from our
 * own code, never text from a library. `found` is the problem that the operator must fix. It is null if the problem may
 * pass without that.
 */
export class StoreUnavailable extends Error {
  readonly store: string;
  readonly reason: string;
  readonly found: FoundProblem | null;

  constructor(store: string, reason: string, found: FoundProblem | null = null) {
    super(`${store}: ${reason}`);
    this.name = 'StoreUnavailable';
    this.store = store;
    this.reason = reason;
    this.found = found;
  }
}

/** The reason if another process has taken over a rebuild. The store works. */
export const rebuiltElsewhere = 'rebuilt_by_another_process';

/**
 * Describes a full disk. The vault also rejects writes if less than the reserve is free, or if the quota of its user is
 * used up, although the disk then still has some space.
 */
export function fullDiskText(store: string): string {
  const reasons = 'is full, less than disk.reserve_bytes is free, or the disk quota of this user is used up';
  return `the disk under ${store} ${reasons}. Free some space`;
}

/** Returns true if a write failed because the disk quota is used up. Node.js has no code for this error. */
export function isQuotaUsedUp(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).errno === -constants.errno.EDQUOT;
}

/** Describes what work waits for, as part of a sentence: `waiting for mongodb (no answer)`. */
export function waitText({ store, reason }: WaitsFor): string {
  if (reason === 'full') return `waiting for free space: the disk under ${store} is full`;
  if (reason === rebuiltElsewhere) return 'waiting for another process, which continues the rebuild';
  return `waiting for ${store} (${reason.replaceAll('_', ' ')})`;
}
