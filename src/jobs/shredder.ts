import { setImmediate as endOfTurn } from 'node:timers/promises';
import { advancedKeys } from '../events/advanced-keys.js';
import { revisedRecords } from '../events/directory/revised-records.js';
import { endedKeys } from '../events/ended-keys.js';
import type { EventLog } from '../ports/event-log.js';
import type { KeyRing } from '../ports/key-ring.js';

const pageSize = 1_000;
/** Some seconds of reading. */
const manyEvents = 100_000;

/**
 * Destroys the keys that events of the log ended, and those of deleted tenants, from where it came to up to the head, and
 * notes the revisions that they led to. Commands do both before they answer; this repeats it for whatever a crash or a busy
 * store left. Its checkpoint
 * lies beside the keys, so a restored key store is rewound and shredded again; and a log that is shorter than the
 * checkpoint, because it was restored, is read again from its start. Nothing after the position `upTo` is looked at: where
 * rows are written after their events, they must be first, or a row would name a key that is gone. Answers how many keys
 * it brought to their end.
 */
export async function shredEndedKeys(log: EventLog, keys: KeyRing, upTo = Number.POSITIVE_INFINITY): Promise<number> {
  const start = await keys.checkpoint('shredder');
  let position = start > (await log.head()) ? 0 : start;
  let hasEnded = position < start;
  let saved = position;
  let destroyed = 0;
  const read = async () => (await log.readClear(position, pageSize)).filter((event) => event.position <= upTo);
  for (let page = await read(); page.length > 0; page = await read()) {
    const ended = endedKeys(page);
    const advanced = advancedKeys(page);
    if (ended.length > 0) {
      destroyed += await keys.destroy(ended, advanced);
      hasEnded = true;
    } else if (advanced.length > 0) await keys.advance(advanced);
    const revised = revisedRecords(page);
    if (revised.length > 0) await keys.noteDirectory(revised);
    for (const { type, tenantId, id } of page) {
      if (type !== 'tenant.deleted') continue;
      destroyed += await keys.destroyTenant(tenantId, id);
      hasEnded = true;
    }
    position = page.at(-1)?.position ?? position;
    if (position - saved >= manyEvents) {
      await keys.saveCheckpoint('shredder', position);
      saved = position;
    }
    // Where reading is no waiting, others have their turn.
    await endOfTurn();
  }
  // A few events that ended nothing are read again next time: so a start that is refused changes no byte of the store.
  if (hasEnded || position - saved >= pageSize) await keys.saveCheckpoint('shredder', position);
  return destroyed;
}

/** As `shredEndedKeys`; `onNotice` is told first when that takes long. */
export async function shredWithNotice(log: EventLog, keys: KeyRing, onNotice: (text: string) => void): Promise<void> {
  const [head, start] = [await log.head(), await keys.checkpoint('shredder')];
  const unread = start > head ? head : head - start;
  if (unread > manyEvents) onNotice(`${unread} events are looked through for keys that they ended`);
  await shredEndedKeys(log, keys);
}
