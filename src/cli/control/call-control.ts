import { request } from 'node:http';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { isNobody } from '../../compose/embedded/control-socket.js';
import { Failure } from '../failure.js';
import type { OperationOutcome } from '../operations/run-operation.js';
import type { Answers, OperationName } from '../operations.js';
import { unsearchableDirectory, unsearchableText } from '../unsearchable-directory.js';

/**
 * Runs an operation in the running service. Returns null if no service is listening on the socket. Throws Failure if
 * the service does not support the operation, or if it accepts the operation but never responds.
 */
export function callControl<Name extends OperationName>(
  socketPath: string,
  name: Name,
  input: unknown,
): Promise<OperationOutcome<Answers[Name]> | null> {
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(failureOf(error, socketPath));
    const call = request({ socketPath, path: `/operations/${name}`, method: 'POST', headers }, (response) => {
      if (response.statusCode === 404) {
        response.resume();
        return reject(new Failure(unknownThere));
      }
      text(response)
        .then((answer) => resolve(JSON.parse(answer) as OperationOutcome<Answers[Name]>))
        .catch(fail);
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      if (isNobody(error)) resolve(null);
      else fail(error);
    });
    call.end(JSON.stringify(input));
  });
}

const unknownThere =
  'the running service has another version and does not know this command. Restart the service with this ' +
  'version, or use the program of its version.';

function failureOf(error: unknown, socketPath: string): Failure {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') {
    const dataDir = dirname(resolve(socketPath));
    const directory = unsearchableDirectory(dataDir);
    if (directory !== null) return new Failure(unsearchableText(dataDir, directory));
    return new Failure(`${socketPath} cannot be opened. Run this as the user that the service runs as.`);
  }
  return new Failure('the service stopped before it responded. Check whether the command took effect, then try again.');
}
