import { join, relative, resolve } from 'node:path';

/** The maximum length of a socket path that works on all supported systems: 103 bytes on macOS, 107 on Linux. */
const pathBytesMax = 103;

/**
 * Returns the path of the control socket, `control.sock` in the data directory, as the shorter of the absolute and the
 * relative path. Returns null if both are too long for a socket.
 */
export function controlSocketPath(dataDir: string): string | null {
  const absolute = resolve(dataDir, 'control.sock');
  const paths = [absolute, join('.', relative(process.cwd(), absolute))];
  return paths.find((path) => Buffer.byteLength(path) <= pathBytesMax) ?? null;
}
