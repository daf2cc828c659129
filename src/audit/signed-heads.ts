import { checkpointStream, readCheckpointEvent } from '../events/audit/checkpoint.js';
import type { AccessHead, AccessLog } from '../ports/access-log.js';
import type { EventLog } from '../ports/event-log.js';

const pageSize = 100;
const aDayMs = 24 * 3_600_000;
/** What one checkpoint names; the others are named by the next one. */
const headsMax = 2_000;

/**
 * Which ends of the chains of the access log are signed already, so that a checkpoint names those alone that have
 * grown.
 */
export function createSignedHeads(log: EventLog, accessLog: Pick<AccessLog, 'heads'>) {
  /** By chain, the sequence that is signed. */
  const signed = new Map<string, number>();
  let isLoaded = false;

  /** Reads back every checkpoint that may name a chain of the months that are looked at. */
  async function load(since: number): Promise<void> {
    const { year, month } = monthOf(since);
    const from = Date.UTC(year, month) - aDayMs;
    for (let before: number | null = null; ; ) {
      const page = await log.readNewest(checkpointStream, before, pageSize);
      for (const checkpoint of page.map(readCheckpointEvent)) {
        for (const { chain, sequence } of checkpoint.access) note(chain, sequence);
      }
      const oldest = page.at(-1);
      if (oldest === undefined || oldest.time < from || oldest.revision === 0) return;
      before = oldest.revision;
    }
  }

  function note(chain: string, sequence: number): void {
    signed.set(chain, Math.max(sequence, signed.get(chain) ?? 0));
  }

  return {
    /** The ends that no checkpoint names. `lastTime`: of the last checkpoint, ms; 0: there is none. */
    async grown(lastTime: number): Promise<readonly AccessHead[]> {
      // An entry is stored moments after its time, and by a clock that may be off.
      const since = Math.max(0, lastTime - aDayMs);
      if (!isLoaded) await load(since);
      isLoaded = true;
      const heads = await accessLog.heads(since);
      return heads.filter(({ chain, sequence }) => sequence > (signed.get(chain) ?? 0)).slice(0, headsMax);
    },
    signed(heads: readonly AccessHead[]): void {
      for (const { chain, sequence } of heads) note(chain, sequence);
    },
  };
}

function monthOf(ms: number): { readonly year: number; readonly month: number } {
  const date = new Date(ms);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() };
}
