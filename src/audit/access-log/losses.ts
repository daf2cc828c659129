import type { NewAccessEntry } from '../../events/access-log/access-entry.js';

/**
 * Tracks the tenants whose entries were dropped while the access log could not be written, so that each of these
 * tenants later gets an entry about the loss.
 */
export function createLosses() {
  const times = new Map<string, number>();
  return {
    isEmpty: (): boolean => times.size === 0,
    add(entries: readonly NewAccessEntry[]): void {
      for (const { tenantId, time } of entries) if (!times.has(tenantId)) times.set(tenantId, time);
    },
    /**
     * Returns one entry for each tenant that lost entries, and stops tracking these tenants. Each returned entry has
     * the time of the first entry that the tenant lost.
     */
    take(): NewAccessEntry[] {
      const entries = [...times].map(([tenantId, time]) => lossOf(tenantId, time));
      times.clear();
      return entries;
    },
  };
}

function lossOf(tenantId: string, time: number): NewAccessEntry {
  return {
    tenantId,
    time,
    actorId: 'system',
    actorType: 'system',
    keyId: null,
    sourceAddress: null,
    entityType: 'log',
    entityRef: null,
    entityId: null,
    operation: 'loss',
    outcome: 'failed',
    message: 'records were lost from here on while the log could not be written',
    trace: null,
    tracePlace: null,
  };
}
