import type { FoundProblem } from './store-problem.js';

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
