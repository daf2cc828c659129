import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { databaseError, StoreBroken } from '../database/database-error.js';

/**
 * Translates every failure of an access log file to StoreUnavailable for the access log alone, because masked reads and
 * writes continue without it. Only errors caused by our own bugs stay unchanged.
 */
export function accessLogError(error: unknown): Error {
  const translated = databaseError(error, 'access log');
  const isOfSystem = typeof (translated as NodeJS.ErrnoException).syscall === 'string';
  if (!(translated instanceof StoreBroken) && !isOfSystem) return translated;
  const isOtherSchema = translated instanceof StoreBroken && translated.found?.check === 'schema';
  return new StoreUnavailable('access log', isOtherSchema ? 'changed_by_another_program' : 'broken');
}
