import {
  endsCommit,
  type ProvenClear,
  type ProvenEvent,
  provenLeaf,
  type StoredClear,
  type StoredEvent,
  sealCommit,
  sealedHash,
} from '../events/commit.js';
import type { KeyRing } from '../keys/key-ring.js';
import { type EventLog, type EventPlace, ForgedLog, type StoredLog } from '../ports/event-log.js';
import type { StoredWork, UnitOfWork } from '../ports/unit-of-work.js';

type Keys = Pick<KeyRing, 'integrityKeys'>;

/**
 * Wraps a store's log. Each commit gets a MAC when it is appended, and each event is verified when it is read. The
 * verification detects events that an attacker with write access to the store has added or changed. It cannot detect
 * that events were removed from the end of a stream or from the end of the log. To detect that, the key store records
 * the newest checkpoint and the newest link (`audit/continuity.ts`).
 */
export function authenticLog(stored: StoredLog, keys: Keys): EventLog {
  const keyOf = async () => (await keys.integrityKeys()).commits;

  return {
    async append(stream, expectedRevision, events) {
      if (events.length === 0) throw new Error('an append must contain at least one event');
      return stored.append(stream, expectedRevision, sealCommit(await keyOf(), stream, expectedRevision, events));
    },
    async readStream(stream) {
      const [key, events] = await Promise.all([keyOf(), stored.readStream(stream)]);
      const proven = events.map((event, revision) => expectAt(wholeEvent(key, event), stream, revision));
      expectEnd(proven.at(-1));
      return proven;
    },
    async readFrom(stream, fromRevision, limit) {
      const [key, events] = await Promise.all([keyOf(), stored.readFrom(stream, fromRevision, limit)]);
      return expectFrom(
        events.map((event) => wholeEvent(key, event)),
        { stream, fromRevision, limit },
      );
    },
    async readClearFrom(stream, fromRevision, limit) {
      const [key, events] = await Promise.all([keyOf(), stored.readClearFrom(stream, fromRevision, limit)]);
      return expectFrom(
        events.map((event) => clearEvent(key, event)),
        { stream, fromRevision, limit },
      );
    },
    async readNewest(stream, beforeRevision, limit) {
      const [key, events] = await Promise.all([keyOf(), stored.readNewest(stream, beforeRevision, limit)]);
      const newest = events[0]?.revision ?? 0;
      const proven = events.map((event, index) => expectAt(clearEvent(key, event), stream, newest - index));
      if (beforeRevision === null) expectEnd(proven[0]);
      const oldest = proven.at(-1);
      // If a page has fewer than `limit` events, its oldest event is the first event of the stream, so the revision of
      // that event must be 0.
      if (oldest !== undefined && proven.length < limit) expectAt(oldest, stream, 0);
      return proven;
    },
    async readAll(afterPosition, limit) {
      const [key, events] = await Promise.all([keyOf(), stored.readAll(afterPosition, limit)]);
      return events.map((event) => wholeEvent(key, event));
    },
    async readClear(afterPosition, limit) {
      const [key, events] = await Promise.all([keyOf(), stored.readClear(afterPosition, limit)]);
      return events.map((event) => clearEvent(key, event));
    },
    head: () => stored.head(),
  };
}

/**
 * Returns a unit of work that adds MACs to the events before it commits them. The store commits the events and their
 * rows in one transaction.
 */
function authenticWork(work: StoredWork, keys: Keys): UnitOfWork {
  return {
    ...work,
    async commit({ writes, claim }) {
      const { commits: key } = await keys.integrityKeys();
      const sealed = writes.map(({ stream, expectedRevision, events, row, distinct }) => ({
        stream,
        expectedRevision,
        commit: sealCommit(key, stream, expectedRevision, events),
        row,
        distinct,
      }));
      return work.commit({ writes: sealed, claim });
    },
  };
}

/**
 * Adds an authenticated log and unit of work to `stores`. The stores must commit events and their rows in one
 * transaction.
 */
export function authenticStores<S extends { storedLog: StoredLog; storedWork: StoredWork; keys: Keys }>(stores: S) {
  const { storedLog, storedWork, keys } = stores;
  return { ...stores, log: authenticLog(storedLog, keys), work: authenticWork(storedWork, keys) };
}

/** Describes how a stored event was forged. Returns null if the event is authentic. */
export function forgery(key: Uint8Array, event: StoredEvent): string | null {
  try {
    wholeEvent(key, event);
    return null;
  } catch (error) {
    if (error instanceof ForgedLog) return error.what;
    throw error;
  }
}

function clearEvent<T extends StoredClear>(key: Uint8Array, event: T): T & Pick<ProvenClear, 'leaf'> {
  const leaf = provenLeaf(key, event);
  if (leaf === null) throw ForgedLog.at(event, 'has no valid authentication code');
  // If `leaf` came after the spread, V8 would create a map (hidden class) for each object (ADR 33). The second line
  // prevents a field of the event from replacing the leaf.
  const proven = { leaf, ...event };
  proven.leaf = leaf;
  return proven;
}

function wholeEvent(key: Uint8Array, event: StoredEvent): ProvenEvent {
  const proven = clearEvent(key, event);
  if (!sealedHash(event).equals(event.proof.sealedHash))
    throw ForgedLog.at(event, 'contains ciphertexts other than those that were sealed');
  return proven;
}

function expectAt<T extends EventPlace>(event: T, stream: string, revision: number): T {
  if (event.stream === stream && event.revision === revision) return event;
  throw ForgedLog.at({ position: null, stream, revision }, 'is missing');
}

/**
 * Throws ForgedLog unless `events` are the stream's events from `fromRevision` on, without a gap. If there are fewer
 * than `limit` events, the stream ends with the last of them, so that event must end a commit.
 */
function expectFrom<T extends StoredClear>(
  events: readonly T[],
  { stream, fromRevision, limit }: { readonly stream: string; readonly fromRevision: number; readonly limit: number },
): readonly T[] {
  for (const [index, event] of events.entries()) expectAt(event, stream, fromRevision + index);
  if (events.length < limit) expectEnd(events.at(-1));
  return events;
}

/** Throws ForgedLog if a stream ends in the middle of a commit. */
function expectEnd(last: StoredClear | undefined): void {
  if (last === undefined || endsCommit(last)) return;
  throw ForgedLog.at({ position: null, stream: last.stream, revision: last.revision + 1 }, 'is missing');
}
