import { request } from 'node:http';
import type { OperationName } from '../operations/operations.js';
import type { OperationOutcome } from '../operations/run-operation.js';

/** Has a running service do an operation; null: no service listens there. */
export function callControl(socketPath: string, name: OperationName, input: unknown): Promise<OperationOutcome | null> {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, path: `/operations/${name}`, method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve(JSON.parse(text) as OperationOutcome));
        response.on('error', reject);
      },
    );
    call.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(null);
      else reject(error);
    });
    call.end(JSON.stringify(input));
  });
}
