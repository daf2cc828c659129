/** Returns the code of the error, such as EIO, if an operation on a file failed. Returns null for any other error. */
export function fileErrorCode(error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? code : null;
}
