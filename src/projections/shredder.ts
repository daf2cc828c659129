import { setImmediate as nextTurn } from 'node:timers/promises';
import { counted } from '../domain/text.js';
import type { ClearEvent } from '../events/event.js';
import { advancedKeys, endedKeys } from '../events/event-keys.js';
import { tenantStream } from '../events/tenancy/streams.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { EventLog } from '../ports/event-log.js';

const pageSize = 1_000;
/**
 * The number of events that can be read in a few seconds. If more events have to be read, `onNotice` is called first.
 * The checkpoint is saved when it has advanced by this many positions. In the embedded profile, a position is the number
 * of an event. In a cluster, it is a byte position, so the checkpoint is saved after almost every page.
 */
const manyEvents = 100_000;

/**
 * Destroys ended keys and the keys of deleted tenants, and records in the key store the revisions that result from the
 * events. Reads the log from the shredder's checkpoint to the head or to `upTo`. Returns the number of keys that were
 * destroyed.
 *
 * Commands do the same work before they respond. The shredder repeats it, because a crash or a busy store may have
 * prevented a command from doing it. The checkpoint is stored with the keys, so a restored key store also contains its
 * checkpoint. If a restored log ends before the checkpoint, the shredder reads the log from the start. `upTo` is for
 * profiles that write rows after their events. While such a profile runs, a row should be written before the shredder
 * reads the event, because each read of a row that names a destroyed key must look in the log too. When `goesOn` returns
 * false, the shredder stops after the current page.
 */
export async function shredEndedKeys(
  log: EventLog,
  keys: KeyRing,
  upTo = Number.POSITIVE_INFINITY,
  goesOn: () => boolean = () => true,
): Promise<number> {
  return shredFrom(await keys.checkpoint('shredder'), { log, keys, upTo, goesOn });
}

/**
 * Does the same as `shredEndedKeys`, but from the start of the log. Another process that shreds at the same time can
 * replace the checkpoint, so the start is not read from it.
 */
export async function shredWholeLog(log: EventLog, keys: KeyRing, upTo: number): Promise<number> {
  await keys.saveCheckpoint('shredder', 0);
  return shredFrom(0, { log, keys, upTo, goesOn: () => true });
}

type Shredding = {
  readonly log: EventLog;
  readonly keys: KeyRing;
  readonly upTo: number;
  readonly goesOn: () => boolean;
};

async function shredFrom(start: number, { log, keys, upTo, goesOn }: Shredding): Promise<number> {
  const head = await log.head();
  // Later events wait for the next call. Under load, there is always another event.
  const end = Math.min(upTo, head);
  let position = start > head ? 0 : start;
  let mustSave = position < start;
  let saved = position;
  let destroyed = 0;
  const read = async () => (await log.readClear(position, pageSize)).filter((event) => event.position <= end);
  for (let page = await read(); page.length > 0 && goesOn(); page = await read()) {
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
    // SQLite reads are synchronous. This pause allows other work to run between two pages.
    await nextTurn();
  }
  // If there are only a few events and none of them ends a key, the checkpoint is not saved (in a cluster: if they take
  // up less than 1,000 bytes). This way, an embedded service that refuses to start does not change the key store.
  if (mustSave || position - saved >= pageSize) await keys.saveCheckpoint('shredder', position);
  return destroyed;
}

/**
 * Runs `shredEndedKeys`. If this will take a long time, calls `onNotice` first. Only for a log whose positions are the
 * numbers of its events.
 */
export async function shredWithNotice(log: EventLog, keys: KeyRing, onNotice: (text: string) => void): Promise<void> {
  const [head, start] = [await log.head(), await keys.checkpoint('shredder')];
  const unread = start > head ? head : head - start;
  if (unread > manyEvents) onNotice(`reading ${counted(unread, 'event')} for the keys that they ended`);
  await shredEndedKeys(log, keys);
}

/** A tenant or application, and the revision of its row after an event. */
type RevisedRecord = {
  readonly kind: 'tenant' | 'application';
  readonly id: string;
  readonly revision: number;
};

/**
 * Returns the directory rows that these events change. Each event in a tenant's stream changes at least the tenant's
 * row.
 */
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
