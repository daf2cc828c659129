import { join, relative, resolve } from 'node:path';

/** What the operating systems take as the path of a socket: 103 bytes on macOS, 107 on Linux. */
const pathBytesMax = 103;

/**
 * Where a service listens for the verbs of the command line: `control.sock` in its data directory, by the shorter of
 * its absolute and relative path. Null: both are too long for a socket.
 */
export function controlSocketPath(dataDir: string): string | null {
  const absolute = resolve(dataDir, 'control.sock');
  const paths = [absolute, join('.', relative(process.cwd(), absolute))];
  return paths.find((path) => Buffer.byteLength(path) <= pathBytesMax) ?? null;
}
