import { setImmediate as endOfTurn } from 'node:timers/promises';
import { counted } from '../domain/text.js';
import { advancedKeys } from '../events/advanced-keys.js';
import { endedKeys } from '../events/ended-keys.js';
import type { ClearEvent } from '../events/event.js';
import { tenantStream } from '../events/tenancy/streams.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { EventLog } from '../ports/event-log.js';

const pageSize = 1_000;
/**
 * A number of events that takes a few seconds to read. Longer reads are announced, and the checkpoint is saved after
 * this many events.
 */
const manyEvents = 100_000;

/**
 * Destroys ended keys and the keys of deleted tenants, and records the revisions that result from the events in the key
 * store. Reads the log from the shredder's checkpoint to the head. Commands do all this themselves before they respond.
 * The shredder repeats it in case a crash or a busy store prevented a command from doing it. The checkpoint is stored
 * with the keys, so after a restore of the key store the shredder starts from the restored checkpoint. If a restored
 * log ends before the checkpoint, the shredder reads the log from the start. It ignores events after the position
 * `upTo`. This is for a profile that writes rows after their events: the rows must be written before the shredder reads
 * the events, because otherwise a row would name a destroyed key. Returns the number of destroyed keys.
 */
export async function shredEndedKeys(log: EventLog, keys: KeyRing, upTo = Number.POSITIVE_INFINITY): Promise<number> {
  const start = await keys.checkpoint('shredder');
  let position = start > (await log.head()) ? 0 : start;
  let mustSave = position < start;
  let saved = position;
  let destroyed = 0;
  const read = async () => (await log.readClear(position, pageSize)).filter((event) => event.position <= upTo);
  for (let page = await read(); page.length > 0; page = await read()) {
    const ended = endedKeys(page);
    const advanced = advancedKeys(page);
    if (ended.length > 0) {
      destroyed += await keys.destroy(ended, advanced);
      mustSave = true;
    } else if (advanced.length > 0) await keys.advance(advanced);
    const revised = revisedRecords(page);
    if (revised.length > 0) await keys.noteDirectory(revised);
    for (const { type, tenantId, id } of page) {
      if (type !== 'tenant.deleted') continue;
      destroyed += await keys.destroyTenant(tenantId, id);
      mustSave = true;
    }
    position = page.at(-1)?.position ?? position;
    if (position - saved >= manyEvents) {
      await keys.saveCheckpoint('shredder', position);
      saved = position;
    }
    // SQLite reads are synchronous, so this lets other work run between pages.
    await endOfTurn();
  }
  // The checkpoint is not saved after only a few events without ended keys, so that a start that the service refuses
  // does not change the key store.
  if (mustSave || position - saved >= pageSize) await keys.saveCheckpoint('shredder', position);
  return destroyed;
}

/** Runs `shredEndedKeys`. If this is going to take a long time, calls `onNotice` first. */
export async function shredWithNotice(log: EventLog, keys: KeyRing, onNotice: (text: string) => void): Promise<void> {
  const [head, start] = [await log.head(), await keys.checkpoint('shredder')];
  const unread = start > head ? head : head - start;
  if (unread > manyEvents) onNotice(`reading ${counted(unread, 'event')} for the keys that they ended`);
  await shredEndedKeys(log, keys);
}

/** A tenant or application, and the revision that an event gives its row. */
type RevisedRecord = {
  readonly kind: 'tenant' | 'application';
  readonly id: string;
  readonly revision: number;
};

/** Returns the directory rows that these events change. Every event in a tenant's stream changes the tenant's row. */
function revisedRecords(events: readonly ClearEvent[]): readonly RevisedRecord[] {
  return events.flatMap(({ stream, tenantId, revision, clear }): RevisedRecord[] => {
    if (stream !== tenantStream(tenantId)) return [];
    const application = clear['application_id'];
    return [
      { kind: 'tenant', id: tenantId, revision },
      ...(typeof application === 'string' ? [{ kind: 'application', id: application, revision } as const] : []),
    ];
  });
}
