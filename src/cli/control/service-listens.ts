import { connect } from 'node:net';

/**
 * Returns false only if the socket does not exist or no process listens on it. Returns true if a process listens or
 * might listen.
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

/** Returns whether the error means that no service is there, as opposed to a service that cannot be reached. */
export function isNobody({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';
}
