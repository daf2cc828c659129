import { checkpointStream, readCheckpointEvent, rememberedOf } from '../events/audit/checkpoint.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { EventLog } from '../ports/event-log.js';
import { StoreProblem } from '../ports/store-problem.js';
import type { Vault } from './vault.js';

/** Thrown if the log ends before the position that the key store has recorded for it. */
export class LogBehind extends StoreProblem {
  constructor(head: number) {
    super({
      check: 'log',
      says:
        `the log is behind its keys: it ends at position ${head}, but the key store has recorded later events. ` +
        'An older copy of the log may have been restored',
      do:
        'Restore the newest copy. If there is none, run `strongroom restore --accept-older-log`, which records as ' +
        'deleted each tenant and token whose keys have since been erased',
    });
    this.name = 'LogBehind';
  }
}

type Both = {
  readonly log: Pick<EventLog, 'head'>;
  readonly keys: Pick<KeyRing, 'checkpoint' | 'saveCheckpoint'>;
};

/**
 * Returns the head of the log, and the position that the key store has recorded. Returns null if the log is not behind
 * that position.
 */
export async function logBehind({ log, keys }: Both): Promise<{ readonly head: number; readonly seen: number } | null> {
  // The log may grow between the two reads, so the key store is read first.
  const seen = Math.max(await keys.checkpoint('log'), await keys.checkpoint('shredder'));
  const head = await log.head();
  return head < seen ? { head, seen } : null;
}

/**
 * Throws LogBehind if the log is an older copy. With an older copy, tokens that were erased after the copy was made
 * would look lost, and tokens that were created after it would be missing without an error. If `isAccepted` is true,
 * does not throw. In that case, the log counts as behind until `acceptLog` is called.
 */
export async function expectNotBehind(both: Both, isAccepted: boolean): Promise<void> {
  const behind = await logBehind(both);
  if (behind === null) return;
  if (!isAccepted) throw new LogBehind(behind.head);
  await both.keys.saveCheckpoint('log', behind.seen);
}

/**
 * Makes the log count as behind until `acceptLog` is called. Await this before the repair of an older log appends an
 * event: the head of the log may pass the recorded position, and an interrupted repair must be possible again.
 */
export async function staysBehind({ keys }: Pick<Both, 'keys'>): Promise<void> {
  await keys.saveCheckpoint('log', Number.MAX_SAFE_INTEGER);
}

/**
 * Records the current end of the log and its link in the key store. After that, the vault rejects an older or rewritten
 * log. Await this before you send the response to a change that takes rights away.
 */
export async function noteLog({ chain, keys }: Pick<Vault, 'chain' | 'keys'>): Promise<void> {
  await chain.follow();
  const link = await chain.head();
  if (link === null || link.position <= ((await keys.logMemory()).link?.position ?? 0)) return;
  await keys.rememberLog({ checkpoint: null, link });
}

/**
 * Makes the key store accept the current log in place of a log that no longer exists. After that, all readers of the
 * log start from its beginning. `shredWholeLog` records the revisions of all events again. A shredder of a process that
 * was left running can read the log before the revisions are forgotten, and save its checkpoint after that.
 */
export async function acceptLog(
  { log, chain, keys }: Pick<Vault, 'log' | 'chain' | 'keys'>,
  shredWholeLog: () => Promise<unknown>,
): Promise<void> {
  // The shredder is reset first, so that it records the revisions again even if this function is interrupted.
  for (const reader of ['shredder', 'orphans', 'anchor'] as const) await keys.saveCheckpoint(reader, 0);
  await keys.forgetRevisions();
  await shredWholeLog();
  await chain.follow();
  const [newest] = await log.readNewest(checkpointStream, null, 1);
  const checkpoint = newest === undefined ? null : rememberedOf(readCheckpointEvent(newest));
  await keys.replaceLogMemory({ checkpoint, link: await chain.head() });
  await keys.saveCheckpoint('log', await log.head());
}
