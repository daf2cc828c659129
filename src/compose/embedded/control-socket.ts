import { connect } from 'node:net';
import { join, relative, resolve } from 'node:path';

/** The longest socket path that works on all supported systems. macOS allows 103 bytes, and Linux allows 107 bytes. */
const pathBytesMax = 103;

/**
 * Returns the path of the control socket, `control.sock` in the data directory. If the absolute path is too long for a
 * socket, returns the relative path. If both paths are too long, returns null.
 */
export function controlSocketPath(dataDir: string): string | null {
  const absolute = resolve(dataDir, 'control.sock');
  const paths = [absolute, join('.', relative(process.cwd(), absolute))];
  return paths.find((path) => Buffer.byteLength(path) <= pathBytesMax) ?? null;
}

/**
 * Returns false only if it is certain that no process is listening on the socket. Returns true if this process may not
 * connect to the socket, for example. A command that may open the data only if no service is running uses this
 * function. Compare `serviceSurelyListens`.
 */
export async function serviceMayListen(socketPath: string): Promise<boolean> {
  const error = await connectionError(socketPath);
  return error === null || !isNobody(error);
}

/**
 * Returns true only if it is certain that a process is listening on the socket. Returns false if this process may not
 * connect to the socket, for example. A start that already holds the lock uses this function, because it must not fail
 * without a proof that another service is running. Compare `serviceMayListen`.
 */
export async function serviceSurelyListens(socketPath: string): Promise<boolean> {
  const error = await connectionError(socketPath);
  // EAGAIN means that the queue of the listening socket is full.
  return error === null || error.code === 'EAGAIN';
}

function connectionError(socketPath: string): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const wire = connect(socketPath, () => {
      wire.destroy();
      resolve(null);
    });
    wire.on('error', resolve);
  });
}

/**
 * Returns true if the error proves that no service is running. Returns false if a service may be running but cannot be
 * reached.
 */
export function isNobody({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';
}
