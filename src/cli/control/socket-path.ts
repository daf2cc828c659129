import { join, relative, resolve } from 'node:path';

/** The longest socket path that works on all supported systems: macOS allows 103 bytes, Linux 107. */
const pathBytesMax = 103;

/**
 * Returns the path of the control socket, `control.sock` in the data directory. Returns the relative path if the
 * absolute path is too long for a socket, or null if both are too long.
 */
export function controlSocketPath(dataDir: string): string | null {
  const absolute = resolve(dataDir, 'control.sock');
  const paths = [absolute, join('.', relative(process.cwd(), absolute))];
  return paths.find((path) => Buffer.byteLength(path) <= pathBytesMax) ?? null;
}
