import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { EventLog } from '../../../ports/event-log.js';
import type { Generations } from '../../../ports/generations.js';
import type { MongoConnection } from '../connection.js';
import { ensureIndexes } from '../required-indexes.js';
import { mongoRowWriter } from '../token-rows/row-writer.js';
import { tokenRowsIndexes } from '../token-rows/token-rows-indexes.js';
import { allHaveRows } from './all-have-rows.js';
import { dropUnusedRows } from './drop-unused-rows.js';
import { generationsCollection, loadGenerations, theGenerations } from './generations-document.js';
import { type KnownGenerations, knownGenerations } from './known-generations.js';
import { proveRights } from './prove-rights.js';
import { createRebuildHold, heldByAnother, leaseUntil } from './rebuild-hold.js';

/** After this nobody knows any more, or is about to write, what was left. */
const settleMs = 3_000;

export type MongoGenerations = Generations & {
  /** What is in use as this process knows it, and when it was asked for. */
  known(): Promise<KnownGenerations>;
  /** The same from the store, read after the call. */
  fresh(): Promise<KnownGenerations>;
  /** Works at the rebuild from now on, until `release`. Throws StoreUnavailable while another process does. */
  hold(): Promise<void>;
  release(): Promise<void>;
  /** Whether another process works at it. One that was killed is waited out, which takes ten seconds. */
  isElsewhere(): Promise<boolean>;
};

/**
 * `Generations` on MongoDB: a collection each, and one document that says which are read and written. Whoever writes a row
 * reads that document after the event was stored: one that was added since will find the event in the log.
 */
export function mongoGenerations(connection: MongoConnection, log: Pick<EventLog, 'readClear'>): MongoGenerations {
  const { call } = connection;
  const { known, fresh, forget } = knownGenerations(connection);
  const hold = createRebuildHold(connection);

  /** False: the filter did not meet the document. */
  async function change(filter: object, update: object | object[]): Promise<boolean> {
    forget();
    const changed = await call((db) => generationsCollection(db).updateOne({ ...theGenerations, ...filter }, update));
    forget();
    return changed.matchedCount === 1;
  }

  /** A change of the rebuild's state, by the one process that works at it. */
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
      // Threat: a process that made its key, and was stopped before it began, would have a generation without a key written.
      await change({}, { $max: { retired: Math.max(0, ...unused) } });
      const now = await fresh();
      return unused.filter((generation) => !now.write.includes(generation));
    },
  };
}
