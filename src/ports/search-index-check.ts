import type { FoundProblem } from './store-problem.js';

/** Checks what a store derives from its rows, if it does: the search index, and the counts of tokens. */
export interface SearchIndexCheck {
  /**
   * Reads the whole index and all counts, and compares them with the rows as they were at the same moment. Returns the
   * problems that it finds: at most one of the index and one of the counts per generation. Yields to other work while
   * it reads.
   */
  run(): Promise<readonly FoundProblem[]>;
}
