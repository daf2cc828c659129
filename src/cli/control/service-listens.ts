import { connect } from 'node:net';

/** Whether something listens on the socket, or may: only a socket that is not there, or that nobody holds, says no. */
export function serviceListens(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const wire = connect(socketPath, () => {
      wire.destroy();
      resolve(true);
    });
    wire.on('error', (error: NodeJS.ErrnoException) => resolve(!isNobody(error)));
  });
}

/** No service is there, as opposed to one that cannot be reached. */
export function isNobody({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';
}
