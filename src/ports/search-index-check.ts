import type { FoundProblem } from './store-problem.js';

/** Checks the search index of a store, if the store has one in addition to its rows. */
export interface SearchIndexCheck {
  /**
   * Reads the whole index and compares it with the rows as they were at the same moment. Returns the first problem that
   * it finds, or null if it finds no problem. Yields to other work while it reads.
   */
  run(): Promise<FoundProblem | null>;
}
