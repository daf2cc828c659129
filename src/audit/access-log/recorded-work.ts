import type { KeyRing } from '../../keys/key-ring.js';
import type { StreamWrite, UnitOfWork } from '../../ports/unit-of-work.js';
import type { AccessRecorder } from '../../vault/vault.js';
import { entryOfEvent } from './entry-of-event.js';

/**
 * Returns a unit of work that creates an access-log entry for every event that it commits, so no command can change
 * anything without leaving an entry. The entries are written a few milliseconds after the events. If an entry is lost,
 * the event still proves the change.
 */
export function recordedWork(
  work: UnitOfWork,
  keys: Pick<KeyRing, 'tenantKeys'>,
  recorder: AccessRecorder,
): UnitOfWork {
  async function record({ stream, expectedRevision, events, row }: StreamWrite): Promise<void> {
    const [first] = events;
    const names = row?.of === 'directory' && first !== undefined ? await namesKeyOf(keys, first.tenantId) : null;
    const entries = events.map((event, index) => entryOfEvent(event, stream, expectedRevision + 1 + index, names));
    recorder.soon(entries.filter((entry) => entry !== null));
  }

  return {
    ...work,
    async commit(change) {
      const recording = new Map<StreamWrite, Promise<void>>();
      const onStored = (write: StreamWrite): void => {
        if (!recording.has(write)) recording.set(write, record(write));
      };
      try {
        const committed = await work.commit({ ...change, onStored });
        if (committed.outcome === 'committed') change.writes.forEach(onStored);
        return committed;
      } finally {
        await Promise.all(recording.values());
      }
    },
  };
}

/**
 * Returns the key that is used to compute the reference to the entity, or null if the tenant keys are destroyed or the
 * key store is unavailable. In that case, the entry is written without the reference, because it describes something
 * that has already happened.
 */
export async function namesKeyOf(keys: Pick<KeyRing, 'tenantKeys'>, tenantId: string): Promise<Uint8Array | null> {
  try {
    return (await keys.tenantKeys(tenantId))?.names ?? null;
  } catch {
    return null;
  }
}
