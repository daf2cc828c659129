import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { databaseError, StoreBroken } from '../database/database-error.js';

/** The checks of problems that another program caused. */
const changedChecks: readonly string[] = ['schema', 'journal'];

/**
 * Converts every failure of an access log file to StoreUnavailable with the store `access log`. The vault does not exit
 * if such a file is damaged, because masked reads and writes continue without the access log. `found` in the result
 * names the file and says how to fix the problem. Returns the error unchanged only if a bug in our code caused it.
 */
export function accessLogError(error: unknown): Error {
  const translated = databaseError(error, 'access log');
  // An error that occurred when a month's file was opened names that file.
  if (translated instanceof StoreUnavailable) {
    return new StoreUnavailable('access log', translated.reason, translated.found);
  }
  if (translated instanceof StoreBroken) {
    const { found } = translated;
    const isChanged = found !== null && changedChecks.includes(found.check);
    return new StoreUnavailable('access log', isChanged ? 'changed_by_another_program' : 'broken', found);
  }
  const isOfSystem = typeof (translated as NodeJS.ErrnoException).syscall === 'string';
  return isOfSystem ? new StoreUnavailable('access log', 'broken') : translated;
}
