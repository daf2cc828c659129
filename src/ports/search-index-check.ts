import type { FoundProblem } from './store-problem.js';

/** Checks the search index of a store that keeps one beside its rows. */
export interface SearchIndexCheck {
  /**
   * Reads the whole index and compares it with the rows, as of one instant. Returns the first problem that it finds, or
   * null. Yields to other work while it reads.
   */
  run(): Promise<FoundProblem | null>;
}
