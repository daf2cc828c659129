import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { atMost } from '../../../domain/at-most.js';
import { isExpired, keysOf } from '../../../domain/token/token-state.js';
import { type NewEvent, noSealedParts } from '../../../events/event.js';
import { tokenEventVersion } from '../../../events/tokens/catalogue.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { EndedKey } from '../../../ports/key-ring.js';
import { applyToView, emptyView } from '../../../views/token-view.js';
import type { MongoConnection } from '../connection.js';
import { batchesCollection } from '../work-indexes.js';
import { type Intent, settle } from './intent.js';
import type { Waits } from './waits.js';

/**
 * Tokens that one request creates, all or none. `open` until all are in the log or the first is undone. `done` when
 * they are created and their rows may be written. `shown` when the rows are written.
 */
type Batch = {
  readonly _id: string;
  readonly state: 'open' | 'done' | 'shown' | 'undoing' | 'undone';
  readonly openedAt: Date;
  readonly intents: readonly Intent[];
};

const keptMs = 2 * 24 * 3_600_000;
const streamsAtOnce = 16;

type Deps = {
  readonly connection: MongoConnection;
  readonly log: EventLog;
  readonly waits: Waits;
  readonly now: () => number;
  readonly destroyKeys: (ended: readonly EndedKey[]) => Promise<unknown>;
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

export type Batches = ReturnType<typeof createBatches>;

/**
 * Creates several tokens on a log without transactions over streams (docs/design.md, "Tokenize"). While a batch may
 * still be undone, no process writes rows of its tokens, so that none of them can be read.
 */
export function createBatches({ connection, log, waits, now, destroyKeys, project }: Deps) {
  const batches = (db: Db): Collection<Batch> => db.collection<Batch>(batchesCollection);

  async function move(id: string, from: readonly Batch['state'][], to: Batch['state']): Promise<Batch | null> {
    return connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id, state: { $in: [...from] } }, { $set: { state: to } }),
    );
  }

  /** Returns the stored batch, or the given batch if there was none. */
  async function findOrMake(id: string, state: Batch['state'], intents: readonly Intent[]): Promise<Batch> {
    // A pipeline, in which names that begin with `$$` are values of the server.
    const made = { _id: id, openedAt: '$$NOW', state, intents: { $literal: intents } };
    const isMissing = { $eq: [{ $type: '$state' }, 'missing'] };
    const batch = await connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id }, [{ $replaceWith: { $cond: [isMissing, made, '$$ROOT'] } }], {
        ...{ upsert: true, returnDocument: 'after' },
      }),
    );
    if (batch === null) throw new Error('an upsert returned no document');
    return batch;
  }

  async function undo(id: string): Promise<void> {
    const batch = await move(id, ['open', 'undoing'], 'undoing');
    if (batch === null) return;
    await atMost(streamsAtOnce, batch.intents, (intent) => undoCreation({ log, now, destroyKeys, project }, intent));
    await move(id, ['undoing'], 'undone');
  }

  /** Writes the rows of a batch, in case its owner stopped before it wrote them. */
  async function show({ _id, intents }: Batch): Promise<void> {
    await atMost(streamsAtOnce, intents, ({ tenantId, stream }) => project(tenantId, stream));
    await move(_id, ['done'], 'shown');
  }

  return {
    /** Opens a batch, before any of its events is appended. Returns false if another process has barred it. */
    async open(id: string, intents: readonly Intent[]): Promise<boolean> {
      return (await findOrMake(id, 'open', intents)).state === 'open';
    },
    /**
     * Records that all events are in the log. Returns false if another process considers it abandoned and undoes it.
     */
    async finish(id: string): Promise<boolean> {
      return (await move(id, ['open'], 'done')) !== null;
    },
    /** Records that the rows of the finished batch are written. */
    async shown(id: string): Promise<void> {
      await move(id, ['done'], 'shown');
    },
    undo,
    /** Ends a batch of which no event was or will be appended. */
    async cancel(id: string): Promise<void> {
      await move(id, ['open'], 'undone');
    },
    /** Returns whether its owner may still finish it. A missing batch may still be opened. */
    async isOpen(id: string): Promise<boolean> {
      const batch = await connection.call((db) => batches(db).findOne({ _id: id }, { projection: { state: 1 } }));
      return batch === null || batch.state === 'open';
    },
    /** Returns whether a batch was finished with its rows. If not, it never will be. */
    async settle(id: string): Promise<'landed' | 'barred'> {
      await findOrMake(id, 'undone', []);
      await undo(id);
      const batch = await connection.call((db) => batches(db).findOne({ _id: id, state: { $in: ['done', 'shown'] } }));
      if (batch?.state === 'done') await show(batch);
      return batch === null ? 'barred' : 'landed';
    },
    /** Returns the streams whose rows may not be written yet. The process that ends their batch writes them. */
    async pendingBatchStreams(): Promise<ReadonlySet<string>> {
      const streams = await connection.call((db) =>
        batches(db).distinct('intents.stream', { state: { $in: ['open', 'undoing'] } }),
      );
      return new Set(streams);
    },
    /** Ends abandoned batches and forgets batches that ended two days ago. Returns the number of undone batches. */
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

type UndoCreationDeps = {
  readonly log: EventLog;
  readonly now: () => number;
  readonly destroyKeys: (ended: readonly EndedKey[]) => Promise<unknown>;
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/** Ends an intended token that was created, and its keys, or bars its creation. Idempotent, also across processes. */
async function undoCreation({ log, now, destroyKeys, project }: UndoCreationDeps, intent: Intent): Promise<void> {
  const { stream, tenantId, expectedRevision, eventIds } = intent;
  const landed = (await settle(log, intent, now())) === 'landed';
  for (;;) {
    const { state } = (await log.readStream(stream)).reduce(applyToView, emptyView(stream, tenantId));
    const { life, revision, ended } = state;
    const born = life === null ? -1 : life.createdRevision - expectedRevision - 1;
    if (!landed || life === null || born < 0 || born >= eventIds.length) {
      // The row first, because a readable row must not name a destroyed key.
      await project(tenantId, stream);
      await destroyKeys(ended);
      return;
    }
    const at = now();
    const end = isExpired(life, at)
      ? ({ type: 'token.expired', clear: { due_at: life.expiresAt ?? at, ends: [...keysOf(life)] } } as const)
      : ({ type: 'token.deleted', clear: { reason: 'undone', ends: [...keysOf(life)] } } as const);
    const event: NewEvent = {
      id: randomUUID(),
      version: tokenEventVersion,
      tenantId,
      actorId: 'system',
      time: at,
      ...end,
      cmd: null,
      trace: null,
      sealed: noSealedParts,
    };
    // The next read shows whether it was stored or another process was first.
    await log.append(stream, revision, [event]);
  }
}
