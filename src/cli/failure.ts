/** An exit code: 1 for a failed command, 2 for a usage error, 3 for a check that found a problem. */
export type ExitCode = 1 | 2 | 3;

/** An error that ends a command with a message for the operator. */
export class Failure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}
