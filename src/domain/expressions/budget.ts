import { limits } from './limits.js';

/**
 * What the expressions of one token may still make and do. Make one per token and request and hand it to every
 * evaluation; it is used up as they run. Results are bounded (docs/contract.md, "Expression limits": 1 MiB); work, the
 * bytes that
 * filters read or make, is bounded because 200 objects of 20 filters that each read 512 KiB and keep nothing would
 * stop the process for seconds.
 */
export type Budget = {
  remainingBytes: number;
  remainingWorkBytes: number;
  /** A filter whose input is longer than what is left does not run. Else the last one may overdraw the budget. */
  readonly isStrict?: boolean;
};

export function createBudget(
  bytes: number = limits.tokenResultBytesMax,
  workBytes: number = limits.tokenWorkBytesMax,
): Budget {
  return { remainingBytes: bytes, remainingWorkBytes: workBytes };
}

/** Takes the bytes of a result and answers true, or takes nothing and answers false. */
export function take(budget: Budget, bytes: number): boolean {
  if (bytes > budget.remainingBytes) return false;
  budget.remainingBytes -= bytes;
  return true;
}

/** Notes work that is done. Whoever starts more asks `isSpent` first, so it is overdrawn by one step at most. */
export function spendWork(budget: Budget, bytes: number): void {
  budget.remainingWorkBytes -= bytes;
}

/** Whether a filter may read so many bytes; if not, nothing is left for others either. */
export function mayRead(budget: Budget, bytes: number): boolean {
  if (budget.isStrict !== true || bytes <= budget.remainingWorkBytes) return true;
  budget.remainingWorkBytes = 0;
  return false;
}

export function isSpent(budget: Budget): boolean {
  return budget.remainingWorkBytes <= 0;
}

/**
 * What the masks of one answer with many tokens may do together, beyond the little that each token may do in any case.
 * Threat: a budget for each token alone lets one list of 100 hostile masks take half a minute of the process.
 */
export type SharedBudget = { remainingWorkBytes: number };

export function createSharedBudget(): SharedBudget {
  return { remainingWorkBytes: limits.sharedWorkBytesMax };
}

/** The budget of one token of an answer. To be settled after its evaluation, before the next token gets its own. */
export function budgetWithin(shared: SharedBudget): Budget & { settle(): 'complete' | 'cut short' } {
  const workBytes = Math.min(limits.tokenWorkBytesMax, limits.ownWorkBytes + shared.remainingWorkBytes);
  const budget = createBudget(limits.tokenResultBytesMax, workBytes);
  return Object.assign(budget, {
    isStrict: workBytes < limits.tokenWorkBytesMax,
    settle() {
      const spent = workBytes - budget.remainingWorkBytes;
      shared.remainingWorkBytes = Math.max(0, shared.remainingWorkBytes - Math.max(0, spent - limits.ownWorkBytes));
      // A token that used up what every token may do evaluates as it does alone.
      return isSpent(budget) && workBytes < limits.tokenWorkBytesMax ? ('cut short' as const) : ('complete' as const);
    },
  });
}
