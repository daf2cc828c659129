import { checkpointStream, readCheckpointEvent, rememberedOf } from '../events/audit/checkpoint.js';
import type { EventLog } from '../ports/event-log.js';
import type { KeyRing } from '../ports/key-ring.js';
import { StoreProblem } from '../ports/store-problem.js';
import type { Vault } from './vault.js';

/** The log ends before a position that its key store has seen. */
export class LogBehind extends StoreProblem {
  constructor(head: number) {
    super({
      check: 'log',
      says:
        `the log is behind its keys: it ends at position ${head}, and they have seen later events, as when an older ` +
        'copy of it was put back',
      do:
        'Put the newest copy back; or, when there is none, run `strongroom restore --accept-older-log`, which records ' +
        'tokens as ended whose keys were erased since',
    });
    this.name = 'LogBehind';
  }
}

type Both = {
  readonly log: Pick<EventLog, 'head'>;
  readonly keys: Pick<KeyRing, 'checkpoint' | 'saveCheckpoint'>;
};

/** How far the log is behind what its keys have seen of it; null: it is not. */
export async function logBehind({ log, keys }: Both): Promise<{ readonly head: number; readonly seen: number } | null> {
  // Keys first: the log grows meanwhile.
  const seen = Math.max(await keys.checkpoint('log'), await keys.checkpoint('shredder'));
  const head = await log.head();
  return head < seen ? { head, seen } : null;
}

/**
 * Throws LogBehind when the log is an older copy: what was erased since would read as lost, and what was made since would
 * be missing without a word. One that is accepted stays behind until `acceptLog`.
 */
export async function expectNotBehind(both: Both, isAccepted: boolean): Promise<void> {
  const behind = await logBehind(both);
  if (behind === null) return;
  if (!isAccepted) throw new LogBehind(behind.head);
  await both.keys.saveCheckpoint('log', behind.seen);
}

/**
 * Has the key store remember where the log ends now, and what its chain is there: a log that was put back or written anew
 * is refused from then on. Awaited before a change of who may read is acknowledged.
 */
export async function noteLog({ chain, keys }: Pick<Vault, 'chain' | 'keys'>): Promise<void> {
  await chain.follow();
  const link = await chain.head();
  if (link === null || link.position <= ((await keys.logMemory()).link?.position ?? 0)) return;
  await keys.rememberLog({ checkpoint: null, link });
}

/** Has the keys forget what they have seen of a log that is gone: all readers of the log begin anew. */
export async function acceptLog({ log, chain, keys }: Pick<Vault, 'log' | 'chain' | 'keys'>): Promise<void> {
  // The shredder first: it notes anew what is forgotten, also when this is cut off.
  for (const reader of ['shredder', 'orphans', 'anchor'] as const) await keys.saveCheckpoint(reader, 0);
  await keys.forgetRevisions();
  await chain.follow();
  const [newest] = await log.readNewest(checkpointStream, null, 1);
  const checkpoint = newest === undefined ? null : rememberedOf(readCheckpointEvent(newest));
  await keys.replaceLogMemory({ checkpoint, link: await chain.head() });
  await keys.saveCheckpoint('log', await log.head());
}
