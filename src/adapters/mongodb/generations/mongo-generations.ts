import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isTokenStream } from '../../../events/tokens/stream-name.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { Generations, Rebuild } from '../../../ports/generations.js';
import type { MongoConnection } from '../connection.js';
import { ensureIndexes } from '../required-indexes.js';
import type { RowDocument } from '../token-rows/row-document.js';
import { mongoRowWriter } from '../token-rows/row-writer.js';
import { tokenRowsCollection, tokenRowsIndexes } from '../token-rows/token-rows-indexes.js';
import { dropUnusedRows } from './drop-unused-rows.js';
import { generationsCollection, loadGenerations, theGenerations } from './generations-document.js';
import { type KnownGenerations, knownGenerations } from './known-generations.js';
import { createRebuildHold, heldByAnother, leaseUntil } from './rebuild-hold.js';

/**
 * How long a process can still use a generation after it has been removed from the list of written generations, in ms.
 * After this time, no process considers the generation to be in use, and no process has a pending write to it.
 */
const settleMs = 3_000;

export type MongoGenerations = Generations & {
  /** Returns the generations in use from this process's cache, with the time when the process began to read them. */
  known(): Promise<KnownGenerations>;
  /** Like `known`, but reads the generations from the store. The read begins after this call. */
  fresh(): Promise<KnownGenerations>;
  /**
   * Acquires the rebuild lease for this process. The process keeps the lease until it calls `release`. Throws
   * StoreUnavailable if another process holds the lease.
   */
  hold(): Promise<void>;
  release(): Promise<void>;
  /**
   * Returns true if another process is working on the rebuild. If the process that holds the lease has died, this
   * function waits until the lease expires, which takes up to ten seconds, and then returns false.
   */
  isElsewhere(): Promise<boolean>;
};

/**
 * Implements `Generations` on MongoDB, with one collection per generation. A single document lists the generations that
 * are read and written. For each row, a process stores the event first, then reads this document, and then writes the
 * row. If a generation is added after the document was read, the event is already stored, so the rebuild finds it in
 * the log.
 */
export function mongoGenerations(connection: MongoConnection, log: Pick<EventLog, 'readClear'>): MongoGenerations {
  const { call } = connection;
  const { known, fresh, forget } = knownGenerations(connection);
  const hold = createRebuildHold(connection);

  /** Changes the document in `generations` and returns true if it matches the filter. Otherwise returns false. */
  async function change(filter: object, update: object | object[]): Promise<boolean> {
    forget();
    const changed = await call((db) => generationsCollection(db).updateOne({ ...theGenerations, ...filter }, update));
    forget();
    return changed.matchedCount === 1;
  }

  /** Changes the rebuild's state. Throws StoreUnavailable if another process holds the rebuild lease. */
  async function changeHeld(filter: object, update: object): Promise<void> {
    if (!(await change({ ...filter, holder: await hold.id() }, update))) throw heldByAnother();
  }

  return {
    known,
    fresh,
    release: hold.release,
    isElsewhere: hold.isElsewhere,
    hold: async () => void (await hold.id()),
    async inUse() {
      const { read, write } = await known();
      return { read, write };
    },
    versions: async () => (await loadGenerations(connection)).versions,
    saveVersion: async (name, version) => void (await change({}, { $set: { [`versions.${name}`]: version } })),
    rebuild: async () => (await loadGenerations(connection)).rebuild,
    async begin(rebuild) {
      const { generation, from } = rebuild;
      await proveRights(connection, generation);
      const holder = randomUUID();
      const isFree = {
        write: from,
        retired: { $lt: generation },
        $or: [{ rebuild: null }, { 'rebuild.phase': 'ended' }],
      };
      // Drops every other generation, because no rebuild is running. Threat: an attacker adds one, and no change can be
      // stored, because the vault has no key for its terms.
      const inUse = { read: from, write: [from, generation] };
      const begun = [{ $set: { rebuild: { $literal: rebuild }, ...inUse, holder, until: leaseUntil } }];
      if (!(await change(isFree, begun))) return false;
      hold.keep(holder);
      try {
        await call((db) => ensureIndexes(db, [tokenRowsIndexes(generation)]));
      } catch (error) {
        await hold.release().catch(() => undefined);
        throw error;
      }
      return true;
    },
    save: (rebuild) => changeHeld({}, { $set: { rebuild } }),
    async put(generation, rows) {
      const { read, write } = await fresh();
      if (!write.includes(generation) || read === generation) return;
      const writer = mongoRowWriter(connection, generation, read);
      await writer.writeMany(rows.map((row) => ({ ...row, before: row.view.state.revision - 1 })));
    },
    async swap(rebuild, version) {
      if (!(await allHaveRows(connection, log, rebuild))) return false;
      const { generation, from } = rebuild;
      const swapped = { read: generation, rebuild, 'versions.tokens': version };
      await changeHeld({ read: from, write: generation }, { $set: swapped });
      return true;
    },
    async leave(generation) {
      await changeHeld({ read: { $ne: generation } }, { $pull: { write: generation } });
      await wait(settleMs);
    },
    async empty() {
      await dropUnusedRows(connection);
      return true;
    },
    end: (last) => changeHeld({}, { $set: { rebuild: last } }),
    askCancel: async (generation) =>
      void (await change({ 'rebuild.generation': generation }, { $set: { cancelled: generation } })),
    isCancelAsked: async (generation) => (await loadGenerations(connection)).cancelled === generation,
    async retire(generations) {
      const { write } = await fresh();
      const unused = generations.filter((generation) => !write.includes(generation));
      // Threat: a process creates a key and is suspended before it begins the rebuild. In the meantime, the key is
      // destroyed as unused. Without this update, the process could still begin the generation after it resumes.
      await change({}, { $max: { retired: Math.max(0, ...unused) } });
      const now = await fresh();
      return unused.filter((generation) => !now.write.includes(generation));
    },
  };
}

const pageSize = 1_000;
const looks = 10;
const pauseMs = 50;

/**
 * Returns true if the rows of the new generation reflect every token event after the rebuild's position. Processes that
 * write recent events already write to both generations, so these rows appear within moments. If rows are missing,
 * checks a few more times.
 */
async function allHaveRows(
  connection: MongoConnection,
  log: Pick<EventLog, 'readClear'>,
  { generation, position }: Rebuild,
): Promise<boolean> {
  const events = await log.readClear(position, pageSize);
  if (events.length === pageSize) return false;
  const tokens = events.filter(({ stream }) => isTokenStream(stream));
  const newest = new Map(tokens.map(({ stream, revision }) => [stream, revision]));
  const { revisionsOf } = mongoRowWriter(connection, generation);
  for (let look = 0; look < looks; look += 1) {
    if (look > 0) await wait(pauseMs);
    const stored = await revisionsOf([...newest.keys()]);
    if ([...newest].every(([stream, revision]) => (stored.get(stream) ?? -1) >= revision)) return true;
  }
  return false;
}

/**
 * Checks that the database user has the privileges to change a generation's rows. Must be called before any process
 * writes to that generation. Uses an id that no row has, so the check changes nothing. Throws MongoBroken if a
 * privilege is missing.
 */
async function proveRights({ call }: MongoConnection, generation: number): Promise<void> {
  const none = { _id: '' };
  await call(async (db) => {
    const rows = db.collection<RowDocument>(tokenRowsCollection(generation));
    await rows.updateOne(none, { $set: { revision: -1 } });
    await rows.deleteOne(none);
  });
}
