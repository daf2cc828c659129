/** A problem and how to fix it, each without a final period. `doctor` lists the problem under the name `check`. */
export type FoundProblem = { readonly check: string; readonly says: string; readonly do: string };

/**
 * The `check` of a problem with a whole store file. Requests that need the file fail until the operator has fixed it.
 */
export const filesCheck = 'files';

/**
 * The `check` of a problem with the rights of a user of a server. Requests that need the right fail until the operator
 * has granted it.
 */
export const rightsCheck = 'permissions';

/** The `check` of a clock that the vault distrusts. */
export const clockCheck = 'clock';

/** Returns the text that describes a problem and how to fix it. */
export function problemText({ says, do: what }: FoundProblem): string {
  return `${says}. ${what}.`;
}

/**
 * Thrown when stores cannot be used in their current state or with the current settings. The message states how to fix
 * this.
 */
export class StoreProblem extends Error {
  /** Null if the error was created from a plain message. */
  readonly found: FoundProblem | null;

  constructor(problem: string | FoundProblem) {
    super(typeof problem === 'string' ? problem : problemText(problem));
    this.name = 'StoreProblem';
    this.found = typeof problem === 'string' ? null : problem;
  }
}
