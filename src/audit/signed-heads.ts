import { checkpointStream, readCheckpointEvent } from '../events/audit/checkpoint.js';
import type { AccessHead, AccessLog } from '../ports/access-log.js';
import type { EventLog } from '../ports/event-log.js';

const pageSize = 100;
const aDayMs = 24 * 3_600_000;
/** The maximum number of chains that one checkpoint signs. Later checkpoints sign the remaining chains. */
const headsMax = 2_000;

/**
 * Keeps track of how far checkpoints have signed each chain of the access log. A new checkpoint then needs to sign only
 * the chains that have grown since they were last signed.
 */
export function createSignedHeads(log: EventLog, accessLog: Pick<AccessLog, 'heads'>) {
  /** For each chain, the newest sequence number that is signed. */
  const signed = new Map<string, number>();
  let isLoaded = false;

  /** Reads every checkpoint that can contain a chain from the month of `since` or from a later month. */
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
    /**
     * Returns the chain ends that no checkpoint has signed yet. `lastTime` is the time of the last checkpoint, in ms.
     * It is 0 if there is no checkpoint yet.
     */
    async grown(lastTime: number): Promise<readonly AccessHead[]> {
      // Also looks at the day before the last checkpoint. An entry is stored shortly after the time that it contains,
      // and the clocks of two processes may differ.
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
