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
