import { connect } from 'node:net';

/**
 * Returns true if a process is listening on the socket, or might be. Returns false if the socket does not exist or no
 * process is listening on it.
 */
export function serviceListens(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const wire = connect(socketPath, () => {
      wire.destroy();
      resolve(true);
    });
    wire.on('error', (error: NodeJS.ErrnoException) => resolve(!isNobody(error)));
  });
}

/**
 * Returns true if the error proves that no service is running. Returns false if a service may be running but cannot be
 * reached.
 */
export function isNobody({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';
}
