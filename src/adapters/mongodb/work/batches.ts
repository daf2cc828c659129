import type { Collection, Db } from 'mongodb';
import { atMost } from '../../../domain/at-most.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { EndedKey } from '../../../ports/key-ring.js';
import type { MongoConnection } from '../connection.js';
import type { Intent } from './intent.js';
import { undoCreation } from './undo-creation.js';
import type { Waits } from './waits.js';
import { batchesCollection } from './work-indexes.js';

/**
 * Tokens that one request creates, all or none. `open` until all are in the log or the first is undone; `done`: they are
 * made, and their rows may be written; `shown`: the rows are there.
 */
type Batch = {
  readonly _id: string;
  readonly state: 'open' | 'done' | 'shown' | 'undoing' | 'undone';
  readonly openedAt: Date;
  readonly intents: readonly Intent[];
};

const keptMs = 2 * 24 * 3_600_000;
const streamsAtOnce = 16;

type Needs = {
  readonly connection: MongoConnection;
  readonly log: EventLog;
  readonly waits: Waits;
  readonly now: () => number;
  readonly destroyKeys: (ended: readonly EndedKey[]) => Promise<unknown>;
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

export type Batches = ReturnType<typeof createBatches>;

/**
 * Creations of several tokens over a log that knows no transaction over streams (architecture, "Tokenize"). While a batch
 * may still be undone nobody writes rows of its tokens, so that nothing of it is read or relied on.
 */
export function createBatches({ connection, log, waits, now, destroyKeys, project }: Needs) {
  const batches = (db: Db): Collection<Batch> => db.collection<Batch>(batchesCollection);

  async function move(id: string, from: readonly Batch['state'][], to: Batch['state']): Promise<Batch | null> {
    return connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id, state: { $in: [...from] } }, { $set: { state: to } }),
    );
  }

  /** The batch as it stands, which is the given one where there was none. */
  async function findOrMake(id: string, state: Batch['state'], intents: readonly Intent[]): Promise<Batch> {
    // Values in a pipeline: what begins with `$$` is the server's.
    const made = { _id: id, openedAt: '$$NOW', state, intents: { $literal: intents } };
    const isMissing = { $eq: [{ $type: '$state' }, 'missing'] };
    const batch = await connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id }, [{ $replaceWith: { $cond: [isMissing, made, '$$ROOT'] } }], {
        ...{ upsert: true, returnDocument: 'after' },
      }),
    );
    if (batch === null) throw new Error('an upsert answers the document');
    return batch;
  }

  async function undo(id: string): Promise<void> {
    const batch = await move(id, ['open', 'undoing'], 'undoing');
    if (batch === null) return;
    await atMost(streamsAtOnce, batch.intents, (intent) => undoCreation({ log, now, destroyKeys, project }, intent));
    await move(id, ['undoing'], 'undone');
  }

  /** Writes the rows of a batch whose owner may not have come to it. */
  async function show({ _id, intents }: Batch): Promise<void> {
    await atMost(streamsAtOnce, intents, ({ tenantId, stream }) => project(tenantId, stream));
    await move(_id, ['done'], 'shown');
  }

  return {
    /** Before anything of it is appended. False: somebody has barred it already. */
    async open(id: string, intents: readonly Intent[]): Promise<boolean> {
      return (await findOrMake(id, 'open', intents)).state === 'open';
    },
    /** All is in the log. False: somebody has taken it for abandoned and undoes it. */
    async finish(id: string): Promise<boolean> {
      return (await move(id, ['open'], 'done')) !== null;
    },
    /** The rows of what was finished are written. */
    async shown(id: string): Promise<void> {
      await move(id, ['done'], 'shown');
    },
    undo,
    /** Ends a batch of which nothing was appended, and nothing will be. */
    async cancel(id: string): Promise<void> {
      await move(id, ['open'], 'undone');
    },
    /** Whether its owner may still finish it. One that is not there may be opened yet. */
    async isOpen(id: string): Promise<boolean> {
      const batch = await connection.call((db) => batches(db).findOne({ _id: id }, { projection: { state: 1 } }));
      return batch === null || batch.state === 'open';
    },
    /** Whether a batch came to its end, with its rows; one that did not never will. */
    async settle(id: string): Promise<'landed' | 'barred'> {
      await findOrMake(id, 'undone', []);
      await undo(id);
      const batch = await connection.call((db) => batches(db).findOne({ _id: id, state: { $in: ['done', 'shown'] } }));
      if (batch?.state === 'done') await show(batch);
      return batch === null ? 'barred' : 'landed';
    },
    /** Streams of which no row may be written yet: whoever ends their batch writes it. */
    async heldBack(): Promise<ReadonlySet<string>> {
      const streams = await connection.call((db) =>
        batches(db).distinct('intents.stream', { state: { $in: ['open', 'undoing'] } }),
      );
      return new Set(streams);
    },
    /** Ends what its process left half-done, and forgets what ended two days ago. Answers how many were undone. */
    async clear(): Promise<number> {
      const olderThan = (ms: number) => ({ $expr: { $lt: ['$openedAt', { $subtract: ['$$NOW', ms] }] } });
      const find = (states: readonly Batch['state'][], ms: number) =>
        connection.call((db) =>
          batches(db)
            .find({ state: { $in: [...states] }, ...olderThan(ms) })
            .toArray(),
        );
      for (const batch of await find(['done'], waits.ownerMs)) await show(batch);
      const abandoned = await find(['open', 'undoing'], waits.batchMs);
      for (const { _id } of abandoned) await undo(_id);
      await connection.call((db) =>
        batches(db).deleteMany({ state: { $in: ['shown', 'undone'] }, ...olderThan(keptMs) }),
      );
      return abandoned.length;
    },
  };
}
