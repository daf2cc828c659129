/** Exit codes: 1 it could not be done, 2 it was asked wrongly, 3 a check found a problem. */
export type ExitCode = 1 | 2 | 3;

/** Ends a verb with a text for the person at the command line. */
export class Failure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}
