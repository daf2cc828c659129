/** Exit codes: 1 the command failed, 2 usage error, 3 a check found a problem. */
export type ExitCode = 1 | 2 | 3;

/** Ends a command with a text for the operator. */
export class Failure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}
