import { connect } from 'node:net';

/**
 * Returns whether a process listens on the socket, or may. Returns false only if the socket does not exist or no
 * process holds it.
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

/** Returns whether the error says that no service is there, and not that a service cannot be reached. */
export function isNobody({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';
}
