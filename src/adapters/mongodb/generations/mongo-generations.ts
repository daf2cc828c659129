import { setTimeout as wait } from 'node:timers/promises';
import type { EventLog } from '../../../ports/event-log.js';
import type { Generations, GenerationsInUse } from '../../../ports/generations.js';
import type { MongoConnection } from '../connection.js';
import { ensureIndexes } from '../required-indexes.js';
import { mongoRowWriter } from '../token-rows/row-writer.js';
import { tokenRowsIndexes } from '../token-rows/token-rows-indexes.js';
import { allHaveRows } from './all-have-rows.js';
import { dropRowsNotIn } from './drop-rows.js';
import {
  type GenerationsDocument,
  generationsCollection,
  loadGenerations,
  theGenerations,
} from './generations-document.js';

/** Architecture, "Projections": what is in use is known for two seconds at most. */
const knownMs = 1_000;
/** After this nobody reads or writes any more what was left, unless it was stopped meanwhile. */
const settleMs = 3_000;

export type MongoGenerations = Generations & {
  /** As `inUse`, from the store. */
  fresh(): Promise<GenerationsInUse>;
};

/**
 * `Generations` on MongoDB: a collection each. Writers look again at what is in use once they have written, and fill what they
 * missed; so a write that was answered is in every generation.
 */
export function mongoGenerations(connection: MongoConnection, log: Pick<EventLog, 'readClear'>): MongoGenerations {
  const { call } = connection;
  let known: { readonly inUse: GenerationsInUse; readonly at: number } | null = null;

  const load = (): Promise<GenerationsDocument> => loadGenerations(connection);

  async function fresh(): Promise<GenerationsInUse> {
    const at = performance.now();
    const { read, write } = await load();
    known = { inUse: { read, write }, at };
    return known.inUse;
  }

  /** False: the filter did not meet the document. */
  async function change(filter: object, update: object): Promise<boolean> {
    known = null;
    const changed = await call((db) => generationsCollection(db).updateOne({ ...theGenerations, ...filter }, update));
    known = null;
    return changed.matchedCount === 1;
  }

  return {
    fresh,
    async inUse() {
      return known !== null && performance.now() - known.at < knownMs ? known.inUse : fresh();
    },
    versions: async () => (await load()).versions,
    saveVersion: async (name, version) => void (await change({}, { $set: { [`versions.${name}`]: version } })),
    rebuild: async () => (await load()).rebuild,
    async begin(rebuild) {
      const { generation } = rebuild;
      await load();
      await call((db) => ensureIndexes(db, [tokenRowsIndexes(generation)]));
      const isFree = { $or: [{ rebuild: null }, { 'rebuild.phase': 'ended' }] };
      const begun = { $set: { rebuild, cancelled: false }, $push: { write: generation } };
      if (await change(isFree, begun)) return true;
      await dropRowsNotIn(call, (await fresh()).write);
      return false;
    },
    save: async (rebuild) => void (await change({}, { $set: { rebuild } })),
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
      return change({ read: from, write: generation }, { $set: swapped });
    },
    async leave(generation) {
      await change({}, { $pull: { write: generation } });
      await wait(settleMs);
    },
    async empty() {
      await dropRowsNotIn(call, (await fresh()).write);
      return true;
    },
    end: async (last) => void (await change({}, { $set: { rebuild: last, cancelled: false } })),
    askCancel: async () => void (await change({}, { $set: { cancelled: true } })),
    isCancelAsked: async () => (await load()).cancelled,
  };
}
