import type { EventLog } from '../ports/event-log.js';
import { type KeyRing, noEvent } from '../ports/key-ring.js';

/** No key is named by an event later than this after it was made. */
const namedWithinMs = 3_600_000;
const candidatesMax = 100_000;
const pageSize = 1_000;

/**
 * Destroys keys that were made ahead and then never named by an event, because a process died in between: only those
 * older than an hour, and only after a read of the log to its head, begun after that hour, has not named them.
 */
export async function destroyOrphanKeys(log: EventLog, keys: KeyRing, now: number): Promise<number> {
  const after = await keys.checkpoint('orphans');
  const made = await keys.made(after, now - namedWithinMs, candidatesMax);
  const [first] = made;
  const last = made.at(-1);
  if (first === undefined || last === undefined) return 0;
  // A log that ends before these keys were made is an older copy: what it does not name, the right one may.
  if (last.logHead > (await log.head())) throw new Error('the log ends before the newest keys were made');
  const orphans = new Set(made.map(({ keyId }) => keyId));
  let position = first.logHead;
  for (
    let page = await log.readClear(position, pageSize);
    page.length > 0;
    page = await log.readClear(position, pageSize)
  ) {
    for (const { clear } of page) {
      for (const named of [clear['key'], clear['cvc_key']]) if (typeof named === 'string') orphans.delete(named);
    }
    position = page.at(-1)?.position ?? position;
  }
  const destroyed = await keys.destroy([...orphans].map((keyId) => ({ keyId, eventId: noEvent })));
  await keys.saveCheckpoint('orphans', last.sequence);
  return destroyed;
}
