import { isQuotaUsedUp } from '../../ports/store-unavailable.js';

/** Returns the code of the error, such as EIO, if an operation on a file failed. Returns null for any other error. */
export function fileErrorCode(error: unknown): string | null {
  if (isQuotaUsedUp(error)) return 'EDQUOT';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? code : null;
}
