import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { shellWord } from './shell-word.js';

const accessOfOthers = 0o077;

/** Other users of the machine can access a file that contains a secret. The message says how to correct this. */
export class ExposedSecret extends Error {}

/**
 * Returns the content of a file that contains a secret. `what` names the secret, such as `the TLS key`. Throws
 * ExposedSecret, as `rejectExposed` does, or an error of `node:fs` if the file cannot be read.
 */
export function readSecretFile(file: string, what: string): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    rejectExposed(file, fstatSync(descriptor), what);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Throws ExposedSecret if this user owns the file and lets other users access it. Threat: another user of the machine
 * reads the secret. Like `ssh`, accepts a file of another user, such as a mounted Secret, because this user cannot
 * change its mode.
 */
export function rejectExposed(file: string, stats: Stats, what: string): void {
  if (!stats.isFile() || stats.uid !== process.geteuid?.() || (stats.mode & accessOfOthers) === 0) return;
  throw new ExposedSecret(
    `${file} contains ${what}, so it must be accessible to its owner only: mode 0600 or 0400. Run: chmod 600 ` +
      shellWord(file),
  );
}
