import { limits } from './limits.js';

/**
 * How many bytes of results the expressions of one token may still make (contract, section 5: 1 MiB). Make one per
 * token and request and hand it to every evaluation; it is used up as they run.
 */
export type Budget = { remainingBytes: number };

export function createBudget(bytes: number = limits.tokenResultBytesMax): Budget {
  return { remainingBytes: bytes };
}

/** Takes the bytes and answers true, or takes nothing and answers false. */
export function take(budget: Budget, bytes: number): boolean {
  if (bytes > budget.remainingBytes) return false;
  budget.remainingBytes -= bytes;
  return true;
}
