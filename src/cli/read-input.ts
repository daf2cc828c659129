import { open, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { shellWord } from '../compose/files/shell-word.js';
import { Failure } from './failure.js';

const accessOfOthers = 0o077;

/**
 * Returns the content of a file, or of standard input if `file` is `-`. Secrets are always passed this way and never as
 * arguments, because other users of the machine can see the arguments.
 */
export async function readInput(file: string, what: string): Promise<string> {
  if (file === '-') {
    if (process.stdin.isTTY) process.stderr.write(`Reading ${what} from standard input; end it with Ctrl-D.\n`);
    return text(process.stdin);
  }
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadableInput(file, what, error);
  });
}

/**
 * Returns the content of a file that contains a secret, or of standard input if `file` is `-`. Throws Failure if this
 * user owns the file and lets other users access it. Threat: another user of the machine reads the secret. Like `ssh`,
 * accepts a file of another user, such as a mounted Secret, because this user cannot change its mode.
 */
export async function readSecret(file: string, what: string): Promise<string> {
  if (file === '-') return readInput(file, what);
  const handle = await open(file).catch((error: unknown) => {
    throw unreadableInput(file, what, error);
  });
  try {
    const stats = await handle.stat();
    if (stats.isFile() && stats.uid === process.geteuid?.() && (stats.mode & accessOfOthers) !== 0) {
      throw new Failure(
        `${file} contains ${what}, so it must be accessible to its owner only: mode 0600 or 0400. Run: chmod 600 ` +
          shellWord(file),
      );
    }
    return await handle.readFile('utf8').catch((error: unknown) => {
      throw unreadableInput(file, what, error);
    });
  } finally {
    await handle.close();
  }
}

function unreadableInput(file: string, what: string, error: unknown): Failure {
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  return new Failure(
    `${what} cannot be read from ${file} (${code}). Check the path, and that this user may read the file.`,
  );
}
