import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { databaseError, StoreBroken } from '../database/database-error.js';

/**
 * Whatever is wrong with a file of the access log makes this log unavailable and nothing else: masked reads and writes
 * go on without it. Only a bug of ours stays what it is.
 */
export function accessLogError(error: unknown): Error {
  const translated = databaseError(error, 'access log');
  const isOfSystem = typeof (translated as NodeJS.ErrnoException).syscall === 'string';
  if (!(translated instanceof StoreBroken) && !isOfSystem) return translated;
  const isOtherSchema = translated instanceof StoreBroken && translated.found?.check === 'schema';
  return new StoreUnavailable('access log', isOtherSchema ? 'changed_by_another_program' : 'broken');
}
