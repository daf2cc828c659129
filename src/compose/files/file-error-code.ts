import { constants } from 'node:os';

/** Returns the code of the error, such as EIO, if an operation on a file failed. Returns null for any other error. */
export function fileErrorCode(error: unknown): string | null {
  const { code, errno } = error as NodeJS.ErrnoException;
  // Node.js has no code for a used-up quota.
  if (errno === -constants.errno.EDQUOT) return 'EDQUOT';
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? code : null;
}
