import { limits } from './limits.js';

/**
 * The output and the work that remain for one token's expressions. Create one budget per token per request, and pass it
 * to every evaluation. Each evaluation uses up a part of the budget. The total size of the results is limited to 1 MiB
 * (docs/contract.md, "Expression limits"). The budget also limits work, which is the number of bytes that filters read
 * or produce. Threat: a caller stores a mask of 200 objects with 20 filters each, and each filter reads 512 KiB and
 * returns nothing. Without a limit on work, evaluating this mask would block the process for seconds.
 */
export type Budget = {
  remainingBytes: number;
  remainingWorkBytes: number;
  /**
   * If true, a filter whose input is larger than the remaining work does not run. If false, the last filter may exceed
   * the budget.
   */
  readonly isStrict?: boolean;
};

export function createBudget(
  bytes: number = limits.tokenResultBytesMax,
  workBytes: number = limits.tokenWorkBytesMax,
): Budget {
  return { remainingBytes: bytes, remainingWorkBytes: workBytes };
}

/**
 * Subtracts the size of a result from the remaining bytes and returns true. If the result is larger than the remaining
 * bytes, subtracts nothing and returns false.
 */
export function take(budget: Budget, bytes: number): boolean {
  if (bytes > budget.remainingBytes) return false;
  budget.remainingBytes -= bytes;
  return true;
}

/**
 * Subtracts completed work from the remaining work. Call `isSpent` before each step of the work, so that only the last
 * step can exceed the budget.
 */
export function spendWork(budget: Budget, bytes: number): void {
  budget.remainingWorkBytes -= bytes;
}

/**
 * Returns true if a filter may read this many bytes. Otherwise, returns false and sets the remaining work to 0, so that
 * no other filter runs.
 */
export function mayRead(budget: Budget, bytes: number): boolean {
  if (budget.isStrict !== true || bytes <= budget.remainingWorkBytes) return true;
  budget.remainingWorkBytes = 0;
  return false;
}

export function isSpent(budget: Budget): boolean {
  return budget.remainingWorkBytes <= 0;
}

/**
 * The work that all masks in one response may do together, in addition to a small amount that is always allowed for
 * each token. Threat: a caller stores 100 expensive masks and lists the tokens. Without this shared budget, the list
 * would take half a minute of CPU time.
 */
export type SharedBudget = { remainingWorkBytes: number };

export function createSharedBudget(): SharedBudget {
  return { remainingWorkBytes: limits.sharedWorkBytesMax };
}

/**
 * Returns the budget for one token in a response. Call `settle` after you evaluate the token and before you create the
 * budget for the next token.
 */
export function budgetWithin(shared: SharedBudget): Budget & { settle(): 'complete' | 'cut short' } {
  const workBytes = Math.min(limits.tokenWorkBytesMax, limits.ownWorkBytes + shared.remainingWorkBytes);
  const budget = createBudget(limits.tokenResultBytesMax, workBytes);
  return Object.assign(budget, {
    isStrict: workBytes < limits.tokenWorkBytesMax,
    settle() {
      const spent = workBytes - budget.remainingWorkBytes;
      shared.remainingWorkBytes = Math.max(0, shared.remainingWorkBytes - Math.max(0, spent - limits.ownWorkBytes));
      // A token that used up a full budget does not count as cut short. Its result would be the same if it were the
      // only token in the response.
      return isSpent(budget) && workBytes < limits.tokenWorkBytesMax ? ('cut short' as const) : ('complete' as const);
    },
  });
}
