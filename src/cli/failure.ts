/**
 * The exit code of a failed command:
 * - 1: the command failed.
 * - 2: the command line or a setting is invalid.
 * - 3: a check found a problem.
 * - 4: a backup is complete and without damage, but its time could not be recorded.
 */
export type ExitCode = 1 | 2 | 3 | 4;

/** An error that terminates a command with a message for the operator. */
export class Failure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}
