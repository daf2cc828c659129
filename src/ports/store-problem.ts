/**
 * What was found and what to do about it, each without a full stop. `check` is the name under which `doctor` lists it.
 */
export type FoundProblem = { readonly check: string; readonly says: string; readonly do: string };

/** Stores that cannot be used as they are, or with the current settings. The message says what to do. */
export abstract class StoreProblem extends Error {
  /** Null if there is only the message. */
  readonly found: FoundProblem | null;

  constructor(problem: string | FoundProblem) {
    super(typeof problem === 'string' ? problem : `${problem.says}. ${problem.do}.`);
    this.found = typeof problem === 'string' ? null : problem;
  }
}
