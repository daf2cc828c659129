import type { KeyRing } from '../../ports/key-ring.js';
import type { Change, CommitOutcome, StreamWrite, UnitOfWork } from '../../ports/unit-of-work.js';
import type { AccessRecorder } from '../../vault/vault.js';
import { entryOfEvent } from './entry-of-event.js';

/**
 * A unit of work that records every event it commits: so no command, present or to come, can change anything without a
 * line in the access log. The events themselves are the proof; the line comes some milliseconds after.
 */
export function recordedWork(
  work: UnitOfWork,
  keys: Pick<KeyRing, 'tenantKeys'>,
  recorder: AccessRecorder,
): UnitOfWork {
  return {
    async commit(change) {
      const committed = await work.commit(change);
      for (const { stream, expectedRevision, events, row } of storedWrites(change, committed)) {
        const [first] = events;
        const names = row?.of === 'directory' && first !== undefined ? await namesKeyOf(keys, first.tenantId) : null;
        const entries = events.map((event, index) => entryOfEvent(event, stream, expectedRevision + 1 + index, names));
        recorder.soon(entries.filter((entry) => entry !== null));
      }
      return committed;
    },
    follow: (streams) => work.follow(streams),
  };
}

function storedWrites({ writes }: Change, committed: CommitOutcome): readonly StreamWrite[] {
  if (committed.outcome === 'committed') return writes;
  const landed = committed.outcome === 'conflict' ? committed.landed : undefined;
  return landed === undefined ? [] : writes.filter((_, index) => landed.includes(index));
}

/** Null also when the key store is down: what is committed is committed, and its line says what it can. */
function namesKeyOf(keys: Pick<KeyRing, 'tenantKeys'>, tenantId: string): Promise<Uint8Array | null> {
  return keys.tenantKeys(tenantId).then(
    (tenantKeys) => tenantKeys?.names ?? null,
    () => null,
  );
}
