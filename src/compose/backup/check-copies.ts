import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkMonths } from '../../adapters/sqlite/access-log/check-months.js';
import { type CopiedLog, openCopiedLog } from '../../adapters/sqlite/backup/copied-log.js';
import { StoreBroken } from '../../adapters/sqlite/database/database-error.js';
import type { ChainedEvent } from '../../audit/export-line.js';
import { wholePageSize } from '../../audit/proven-chain.js';
import { verifyLog } from '../../audit/verify/verify-log.js';
import { grouped } from '../../domain/text.js';
import type { Checkpoint } from '../../events/audit/checkpoint.js';
import { type StoredEvent, sealedHash } from '../../events/commit.js';
import type { OnPhase } from '../../ports/backup.js';

/** The number of events after which the phase is shown again. */
const shownEvery = 625 * wholePageSize;

/** The key that the checkpoints of the log are signed with, and the id of the log. */
type LogKey = { readonly publicKey: string; readonly logId: string | null };

/**
 * Checks the structure of the access log's files in a backup, but not the hashes of their entries. Describes each
 * damaged file.
 */
export function checkAccessCopies(folder: string, onPhase: OnPhase): readonly string[] {
  const { damaged } = checkMonths(folder, 'writer', (fileName) => onPhase(`checking ${fileName}`));
  return damaged.map(({ says }) => says);
}

/**
 * Verifies the log in a backup, and returns what is wrong with it, or null. Recomputes every hash, including those of
 * the ciphertexts, and verifies the checkpoints. This needs no secret key. Only a MAC shows that an event is forged that
 * no checkpoint signs yet.
 */
export async function checkLogCopy(
  folder: string,
  key: LogKey,
  onPhase: OnPhase,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const copied = openCopiedLog(folder);
    try {
      const checks = { ...key, from: null, anchored: new Map<number, Checkpoint>(), isPart: false };
      return (await verifyLog(eventsOf(copied, onPhase, signal), checks)).problem?.message ?? null;
    } finally {
      copied.close();
    }
  } catch (error) {
    // SQLite can copy a damaged row that it cannot read.
    if (error instanceof StoreBroken) return error.message;
    throw error;
  }
}

async function* eventsOf(
  { log, chain }: CopiedLog,
  onPhase: OnPhase,
  signal: AbortSignal,
): AsyncGenerator<ChainedEvent> {
  let events = 0;
  for (let after = 0; ; ) {
    if (events % shownEvery === 0) onPhase(`verifying the log, ${grouped(events)} events`);
    const page = await log.readAll(after, wholePageSize);
    // Each page has at most as many links as events.
    const links = new Map((await chain.after(after, wholePageSize)).map((link) => [link.position, link]));
    for (const event of page) {
      const link = links.get(event.position);
      const hash = link === undefined ? null : Buffer.from(link.hash).toString('hex');
      yield { position: event.position, count: link?.count ?? null, link: hash, event: withoutCiphertexts(event) };
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.position;
    events += page.length;
    await nextTurn();
    signal.throwIfAborted();
  }
}

function withoutCiphertexts({ trace, sealed, proof, ...clear }: StoredEvent): NonNullable<ChainedEvent['event']> {
  return { ...clear, proof: { ...proof, sealedHash: sealedHash({ trace, sealed }) } };
}
