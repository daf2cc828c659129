import type { NewAccessEntry } from '../../events/access-log/access-entry.js';
import { sealEntries } from '../../events/access-log/seal-entries.js';
import type { AccessLog } from '../../ports/access-log.js';
import type { FoundProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { AccessRecorder } from '../../vault/vault.js';

/**
 * After this time (in ms), waiting entries are written as one batch. Entries that a request waits for are written
 * immediately.
 */
const batchMs = 5;
/**
 * If this many entries are waiting, they are written as a batch before `batchMs` has passed. They take up about 256
 * KiB.
 */
const batchEntriesMax = 500;
const retryMs = 1_000;
/**
 * The maximum number of entries to keep in memory while the access log cannot be written. When this limit is reached,
 * new entries are dropped. At that point, the kept entries take up about 10 MB.
 */
const keptEntriesMax = 20_000;

export function createAccessRecorder(
  log: Pick<AccessLog, 'record'>,
  onError: (error: unknown) => void,
): AccessRecorder {
  const losses = createLosses();
  let kept: NewAccessEntry[] = [];
  let keptUnderWay = 0;
  const underWay = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | null = null;
  let writable = true;
  let problem: FoundProblem | null = null;

  function record(entries: readonly NewAccessEntry[]): Promise<void> {
    return log.record(entries).then(recorded, failed);
  }

  function recorded(): void {
    if (!writable) schedule(0);
    writable = true;
    problem = null;
  }

  function failed(error: unknown): never {
    if (writable) onError(error);
    writable = false;
    problem = error instanceof StoreUnavailable ? error.found : null;
    throw error;
  }

  /** Writes all waiting entries as one batch. If the write fails, keeps the entries for a retry and throws. */
  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const entries = [...losses.take(), ...kept];
    if (entries.length === 0) return;
    kept = [];
    keptUnderWay += entries.length;
    const flushing = record(entries);
    underWay.add(flushing);
    try {
      await flushing;
    } catch (error) {
      kept = [...sealEntries(entries), ...kept];
      schedule(retryMs);
      throw error;
    } finally {
      keptUnderWay -= entries.length;
      underWay.delete(flushing);
    }
  }

  function flushLater(): void {
    // The error can be ignored here: `record` has already reported it, and `flush` has kept the entries for a retry.
    flush().catch(() => undefined);
  }

  function schedule(inMs: number): void {
    timer ??= setTimeout(flushLater, inMs);
  }

  async function recordAfterOthers(entries: readonly NewAccessEntry[]): Promise<void> {
    const alone = !writable && entries.length > 0;
    // While the access log cannot be written, a call with entries tries to write only its own entries. The kept entries
    // wait for the next retry. The only purpose of a call without entries is to write the kept entries, so it tries to
    // write them immediately.
    const before = alone ? [] : [...underWay, flush()];
    await Promise.all([...before, entries.length === 0 ? null : record(entries)]);
  }

  return {
    // Usually no other entries are waiting, so the given entries can be written alone.
    now: (entries) =>
      writable && entries.length > 0 && kept.length === 0 && underWay.size === 0 && losses.isEmpty()
        ? record(entries)
        : recordAfterOthers(entries),
    soon(entries) {
      if (kept.length + keptUnderWay + entries.length > keptEntriesMax) {
        losses.add(entries);
        return;
      }
      // While entries wait for the end of an outage, no plaintext trace is in memory.
      kept.push(...(writable ? entries : sealEntries(entries)));
      if (!writable) schedule(retryMs);
      else if (kept.length >= batchEntriesMax) flushLater();
      else schedule(batchMs);
    },
    isWritable: () => writable,
    problem: () => problem,
    async close() {
      await Promise.allSettled([...underWay, flush()]);
      if (timer !== null) clearTimeout(timer);
      // An operator may have to stop the service to repair the access log.
      if (kept.length > 0) await log.record(kept, 'last').catch(() => undefined);
    },
  };
}

/**
 * Tracks the tenants whose entries were dropped while the access log could not be written, so that each of these
 * tenants later gets an entry about the loss.
 */
function createLosses() {
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
