/** What is the case and what to do about it, each without a full stop; `check`: what `doctor` lists it as. */
export type FoundProblem = { readonly check: string; readonly says: string; readonly do: string };

/** Stores that cannot be used as they are, or as they are set up. The message says what to do. */
export abstract class StoreProblem extends Error {
  /** Null: only the message says it. */
  readonly found: FoundProblem | null;

  constructor(problem: string | FoundProblem) {
    super(typeof problem === 'string' ? problem : `${problem.says}. ${problem.do}.`);
    this.found = typeof problem === 'string' ? null : problem;
  }
}
