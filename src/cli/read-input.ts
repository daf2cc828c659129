import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { ExposedSecret, readSecretFile } from '../compose/files/secret-file.js';
import { Failure } from './failure.js';

/**
 * Returns the content of a file, or of standard input if `file` is `-`, without a byte order mark. Secrets are always
 * passed this way and never as arguments, because other users of the machine can see the arguments. Throws Failure if
 * the content is not UTF-8.
 */
export async function readInput(file: string, what: string): Promise<string> {
  if (file === '-') {
    if (process.stdin.isTTY) process.stderr.write(`Reading ${what} from standard input; end it with Ctrl-D.\n`);
    return decoded(await buffer(process.stdin), 'standard input', what);
  }
  const bytes = await readFile(file).catch((error: unknown) => {
    throw unreadableInput(file, what, error);
  });
  return decoded(bytes, file, what);
}

function decoded(bytes: Uint8Array, source: string, what: string): string {
  // Without this check, the vault would store U+FFFD in place of the bytes.
  if (!isUtf8(bytes)) throw new Failure(`${source} is not UTF-8. Save ${what} as UTF-8.`);
  return new TextDecoder().decode(bytes);
}

/**
 * Returns the content of a file that contains a secret, or of standard input if `file` is `-`. Throws Failure if
 * `readSecretFile` rejects the file.
 */
export async function readSecret(file: string, what: string): Promise<string> {
  if (file === '-') return readInput(file, what);
  try {
    return readSecretFile(file, what).toString();
  } catch (error) {
    throw error instanceof ExposedSecret ? new Failure(error.message) : unreadableInput(file, what, error);
  }
}

function unreadableInput(file: string, what: string, error: unknown): Failure {
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  return new Failure(
    `${what} cannot be read from ${file} (${code}). Check the path, and that this user may read the file.`,
  );
}
