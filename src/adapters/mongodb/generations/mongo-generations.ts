import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
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

/** After this time, no process considers a left generation to be in use or has a pending write to it. */
const settleMs = 3_000;

export type MongoGenerations = Generations & {
  /** Returns the generations in use, from this process's cache, and when it requested them. */
  known(): Promise<KnownGenerations>;
  /** Like `known`, but reads from the store. Never reuses a read that began before this call. */
  fresh(): Promise<KnownGenerations>;
  /**
   * Makes this process the one that works on the rebuild, until it calls `release`. Throws StoreUnavailable while
   * another process works on it.
   */
  hold(): Promise<void>;
  release(): Promise<void>;
  /**
   * Returns whether another process is working on the rebuild. If that process died, waits until its ten-second lease
   * expires.
   */
  isElsewhere(): Promise<boolean>;
};

/**
 * Implements `Generations` on MongoDB: one collection per generation, and a document that names the generations that
 * are read and written. A row's writer reads that document after the event is stored. The rebuild of a generation that
 * is added later finds the event in the log.
 */
export function mongoGenerations(connection: MongoConnection, log: Pick<EventLog, 'readClear'>): MongoGenerations {
  const { call } = connection;
  const { known, fresh, forget } = knownGenerations(connection);
  const hold = createRebuildHold(connection);

  /** Returns false if the filter did not match the document. */
  async function change(filter: object, update: object | object[]): Promise<boolean> {
    forget();
    const changed = await call((db) => generationsCollection(db).updateOne({ ...theGenerations, ...filter }, update));
    forget();
    return changed.matchedCount === 1;
  }

  /** Changes the rebuild's state. Throws StoreUnavailable unless this process is the one that works on the rebuild. */
  async function changeHeld(filter: object, update: object): Promise<void> {
    if (!(await change({ ...filter, holder: await hold.id() }, update))) throw heldByAnother();
  }

  return {
    ...{ known, fresh, release: hold.release, isElsewhere: hold.isElsewhere },
    hold: async () => void (await hold.id()),
    async inUse() {
      const { read, write } = await known();
      return { read, write };
    },
    versions: async () => (await loadGenerations(connection)).versions,
    saveVersion: async (name, version) => void (await change({}, { $set: { [`versions.${name}`]: version } })),
    rebuild: async () => (await loadGenerations(connection)).rebuild,
    async begin(rebuild) {
      const { generation } = rebuild;
      await proveRights(connection, generation);
      const holder = randomUUID();
      const isFree = { retired: { $lt: generation }, $or: [{ rebuild: null }, { 'rebuild.phase': 'ended' }] };
      const write = { $concatArrays: ['$write', [generation]] };
      const begun = [{ $set: { rebuild: { $literal: rebuild }, write, holder, until: leaseUntil } }];
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
      // Threat: a process that was suspended between creating the key and beginning the rebuild would begin a
      // generation whose key is gone.
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
 * Returns whether each event after a rebuild's position has its row in the new generation. The writers of recent events
 * know both generations and write these rows within moments.
 */
async function allHaveRows(
  connection: MongoConnection,
  log: Pick<EventLog, 'readClear'>,
  { generation, position }: Rebuild,
): Promise<boolean> {
  const events = await log.readClear(position, pageSize);
  if (events.length === pageSize) return false;
  const tokens = events.filter(({ stream }) => stream.startsWith('token-'));
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
 * Checks that the database user may change the rows of a generation, before all processes have to write them. The
 * update uses an id that no row has. Throws MongoBroken.
 */
async function proveRights({ call }: MongoConnection, generation: number): Promise<void> {
  const none = { _id: '' };
  await call(async (db) => {
    const rows = db.collection<RowDocument>(tokenRowsCollection(generation));
    await rows.updateOne(none, { $set: { revision: -1 } });
    await rows.deleteOne(none);
  });
}
