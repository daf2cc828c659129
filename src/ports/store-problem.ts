/** A problem and how to fix it, each without a final period. `doctor` lists the problem under the name `check`. */
export type FoundProblem = { readonly check: string; readonly says: string; readonly do: string };

/**
 * Thrown when stores cannot be used in their current state or with the current settings. The message states how to fix
 * this.
 */
export abstract class StoreProblem extends Error {
  /** Null if the error was created from a plain message. */
  readonly found: FoundProblem | null;

  constructor(problem: string | FoundProblem) {
    super(typeof problem === 'string' ? problem : `${problem.says}. ${problem.do}.`);
    this.found = typeof problem === 'string' ? null : problem;
  }
}
