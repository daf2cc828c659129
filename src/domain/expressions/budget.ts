import { limits } from './limits.js';

/**
 * What the expressions of one token may still produce and read. Create one per token and request, and pass it to every
 * evaluation, which uses it up. Results are bounded (docs/contract.md, "Expression limits": 1 MiB). Work, the bytes
 * that filters read or produce, is bounded too. Threat: 200 objects of 20 filters that each read 512 KiB and keep
 * nothing would block the process for seconds.
 */
export type Budget = {
  remainingBytes: number;
  remainingWorkBytes: number;
  /**
   * A filter whose input is longer than the rest does not run. Without this flag, the last filter may overdraw the
   * budget.
   */
  readonly isStrict?: boolean;
};

export function createBudget(
  bytes: number = limits.tokenResultBytesMax,
  workBytes: number = limits.tokenWorkBytesMax,
): Budget {
  return { remainingBytes: bytes, remainingWorkBytes: workBytes };
}

/** Takes the bytes of a result and returns true, or takes nothing and returns false. */
export function take(budget: Budget, bytes: number): boolean {
  if (bytes > budget.remainingBytes) return false;
  budget.remainingBytes -= bytes;
  return true;
}

/** Counts work that was done. Call `isSpent` before more work, so that the budget is overdrawn by at most one step. */
export function spendWork(budget: Budget, bytes: number): void {
  budget.remainingWorkBytes -= bytes;
}

/** Returns whether a filter may read this many bytes. If not, nothing is left for other filters either. */
export function mayRead(budget: Budget, bytes: number): boolean {
  if (budget.isStrict !== true || bytes <= budget.remainingWorkBytes) return true;
  budget.remainingWorkBytes = 0;
  return false;
}

export function isSpent(budget: Budget): boolean {
  return budget.remainingWorkBytes <= 0;
}

/**
 * The work that all masks of one response may do together, beyond the little that each token may do in any case.
 * Threat: with only a budget per token, one list of 100 hostile masks would take half a minute of the process.
 */
export type SharedBudget = { remainingWorkBytes: number };

export function createSharedBudget(): SharedBudget {
  return { remainingWorkBytes: limits.sharedWorkBytesMax };
}

/**
 * Returns the budget of one token of a response. Call `settle` after its evaluation, before the next token gets its
 * budget.
 */
export function budgetWithin(shared: SharedBudget): Budget & { settle(): 'complete' | 'cut short' } {
  const workBytes = Math.min(limits.tokenWorkBytesMax, limits.ownWorkBytes + shared.remainingWorkBytes);
  const budget = createBudget(limits.tokenResultBytesMax, workBytes);
  return Object.assign(budget, {
    isStrict: workBytes < limits.tokenWorkBytesMax,
    settle() {
      const spent = workBytes - budget.remainingWorkBytes;
      shared.remainingWorkBytes = Math.max(0, shared.remainingWorkBytes - Math.max(0, spent - limits.ownWorkBytes));
      // A token that used up its own budget is evaluated as it would be alone.
      return isSpent(budget) && workBytes < limits.tokenWorkBytesMax ? ('cut short' as const) : ('complete' as const);
    },
  });
}
