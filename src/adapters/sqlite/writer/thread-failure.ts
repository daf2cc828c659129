import type { FoundProblem } from '../../../ports/store-problem.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';

/**
 * An error in a form that can be sent to another thread. `store` is null if a bug in our code caused the error. `found`
 * is the problem that the operator must fix, or null.
 */
export type ThreadFailure = {
  readonly store: string | null;
  readonly reason: string;
  readonly found: FoundProblem | null;
};

export function failureOf(error: Error): ThreadFailure {
  if (error instanceof StoreUnavailable) return { store: error.store, reason: error.reason, found: error.found };
  return { store: null, reason: error.message, found: null };
}

/** Returns the error that `failureOf` described: StoreUnavailable, or an unspecific error for a bug. */
export function errorOf({ store, reason, found }: ThreadFailure): Error {
  return store === null ? new Error(reason) : new StoreUnavailable(store, reason, found);
}
