import type { AccessLog } from '../ports/access-log.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';

const monthsKept = 13;

/** Drops the months of the access log that are wholly older than 13 months. One that is down is left for later. */
export async function dropOldAccess(log: AccessLog, now: number): Promise<void> {
  const today = new Date(now);
  try {
    await log.dropMonths(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsKept, 1));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
