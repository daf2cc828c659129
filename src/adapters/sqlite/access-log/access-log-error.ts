import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { databaseError, StoreBroken } from '../database/database-error.js';

/**
 * Converts every failure of an access log file to StoreUnavailable with the store `access log`. The vault does not exit
 * if such a file is damaged, because masked reads and writes continue without the access log. Returns the error
 * unchanged only if a bug in our code caused it.
 */
export function accessLogError(error: unknown): Error {
  const translated = databaseError(error, 'access log');
  // An error that occurred when a month's file was opened names that file.
  if (translated instanceof StoreUnavailable) return new StoreUnavailable('access log', translated.reason);
  const isOfSystem = typeof (translated as NodeJS.ErrnoException).syscall === 'string';
  if (!(translated instanceof StoreBroken) && !isOfSystem) return translated;
  const isOtherSchema = translated instanceof StoreBroken && translated.found?.check === 'schema';
  return new StoreUnavailable('access log', isOtherSchema ? 'changed_by_another_program' : 'broken');
}
