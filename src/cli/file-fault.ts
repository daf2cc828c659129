import { Failure } from './failure.js';

/** Returns the Failure for a file that cannot be read. The message names the reason and, if it is known, the remedy. */
export function unreadable(path: string, error: unknown): Failure {
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  return new Failure(`${path} cannot be read (${code}).${readAdvice[code] ?? ''}`);
}

/**
 * Returns the Failure for a file or directory that cannot be written. The message names the reason and, if it is known,
 * the remedy.
 */
export function unwritable(path: string, error: unknown): Failure {
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  return new Failure(`${path} cannot be written (${code}).${writeAdvice[code] ?? ''}`);
}

const readAdvice: Readonly<Record<string, string>> = {
  ENOENT: ' There is no such file. Check the path.',
  EACCES: ' Run this command as a user that may read it.',
  EISDIR: ' It is a directory, not a file. Check the path.',
};

const writeAdvice: Readonly<Record<string, string>> = {
  ENOENT: ' Its directory does not exist. Create it first, or choose another path.',
  EACCES: ' Run this command as a user that may write there, or choose another path.',
  EROFS: ' Its file system is read-only. Choose another path.',
  ENOSPC: ' The disk is full. Free some space, or choose another path.',
  EDQUOT: ' The disk quota of this user is used up. Free some space, or choose another path.',
  ENOTEMPTY: ' It was created while this command ran. Choose another path.',
};
