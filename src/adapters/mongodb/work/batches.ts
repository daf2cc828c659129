import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { atMost } from '../../../domain/at-most.js';
import { isExpired, keysOf } from '../../../domain/token/token-state.js';
import { type NewEvent, noSealedParts } from '../../../events/event.js';
import { tokenEventVersion } from '../../../events/tokens/catalogue.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { EndedKey } from '../../../ports/key-store.js';
import { applyToView, emptyView } from '../../../views/token-view.js';
import type { MongoConnection } from '../connection.js';
import { batchesCollection } from '../work-indexes.js';
import { type Intent, settle } from './intent.js';
import type { Waits } from './waits.js';
import { intentFacts, isAuthenticWork, type WorkKey, workMac } from './work-mac.js';

/**
 * The tokens that one request creates, all or none. The log alone determines whether a batch landed, which means that
 * the log contains all of its creations. The state says what is left to do. `open`: the owner is appending. `done`: the
 * owner has appended everything. `ending`: another process is settling the batch. `shown`: the batch landed, and its
 * rows are written. `undone`: the batch did not land, and the tokens that it created are deleted.
 */
type Batch = {
  readonly _id: string;
  readonly state: 'open' | 'done' | 'shown' | 'ending' | 'undone';
  readonly openedAt: Date;
  readonly intents: readonly Intent[];
  /** The MAC of the id and the intents. */
  readonly mac: Buffer;
};

const keptMs = 2 * 24 * 3_600_000;
const streamsAtOnce = 16;

type Deps = {
  readonly connection: MongoConnection;
  readonly log: EventLog;
  readonly waits: Waits;
  readonly workKey: WorkKey;
  readonly now: () => number;
  readonly destroyKeys: (ended: readonly EndedKey[]) => Promise<unknown>;
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

export type Batches = ReturnType<typeof createBatches>;

/**
 * Creates several tokens on a log that has no transactions across streams (docs/design.md, "Tokenize"). While a batch
 * may still be undone, no process writes rows for its tokens, so that none of them can be read.
 */
export function createBatches({ connection, log, waits, workKey, now, destroyKeys, project }: Deps) {
  const batches = (db: Db): Collection<Batch> => db.collection<Batch>(batchesCollection);

  async function move(id: string, from: readonly Batch['state'][], to: Batch['state']): Promise<Batch | null> {
    return connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id, state: { $in: [...from] } }, { $set: { state: to } }),
    );
  }

  /** Returns the stored batch. Stores the given one if there is none. */
  async function findOrMake(id: string, state: Batch['state'], intents: readonly Intent[]): Promise<Batch> {
    // An update pipeline, in which names that begin with `$$` are server values.
    const mac = await workMac(workKey, { in: 'batches', id }, intents.map(intentFacts));
    const made = { _id: id, openedAt: '$$NOW', state, intents: { $literal: intents }, mac: { $literal: mac } };
    const isMissing = { $eq: [{ $type: '$state' }, 'missing'] };
    const batch = await connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id }, [{ $replaceWith: { $cond: [isMissing, made, '$$ROOT'] } }], {
        ...{ upsert: true, returnDocument: 'after' },
      }),
    );
    if (batch === null) throw new Error('an upsert returned no document');
    return batch;
  }

  function isAuthentic({ _id, intents, mac }: Batch): Promise<boolean> {
    return isAuthenticWork(workKey, { in: 'batches', id: _id }, mac, () => intents.map(intentFacts));
  }

  /**
   * Settles a batch. Bars the creations that are not in the log. If all are in the log, writes their rows; otherwise,
   * deletes the tokens that were created. Does nothing for a batch that the vault did not record. Idempotent, even
   * across processes.
   */
  async function end(id: string): Promise<'landed' | 'barred'> {
    await move(id, ['open'], 'ending');
    const batch = await connection.call((db) => batches(db).findOne({ _id: id }));
    if (batch === null || !(await isAuthentic(batch))) {
      await move(id, ['done', 'ending'], 'undone');
      return 'barred';
    }
    const { intents } = batch;
    const outcomes = await atMost(streamsAtOnce, intents, (intent) => settle(log, intent, now()));
    if (intents.length > 0 && outcomes.every((outcome) => outcome === 'landed')) {
      await atMost(streamsAtOnce, intents, ({ tenantId, stream }) => project(tenantId, stream));
      await move(id, ['done', 'ending', 'undone'], 'shown');
      return 'landed';
    }
    await atMost(streamsAtOnce, intents, (intent) => undoCreation({ log, now, destroyKeys, project }, intent));
    await move(id, ['done', 'ending', 'shown'], 'undone');
    return 'barred';
  }

  return {
    /** Opens a batch before any of its events is appended. Returns false if another process has barred the batch. */
    async open(id: string, intents: readonly Intent[]): Promise<boolean> {
      return (await findOrMake(id, 'open', intents)).state === 'open';
    },
    /** Records that all events are in the log. */
    async finish(id: string): Promise<void> {
      await move(id, ['open', 'ending'], 'done');
    },
    /** Records that the rows of the finished batch are written. */
    async shown(id: string): Promise<void> {
      await move(id, ['done'], 'shown');
    },
    end,
    /** Ends a batch when none of its events was or will be appended. */
    async cancel(id: string): Promise<void> {
      await move(id, ['open'], 'undone');
    },
    /** Returns whether a batch's owner may still finish it. A missing batch may still be opened. */
    async isOpen(id: string): Promise<boolean> {
      const batch = await connection.call((db) => batches(db).findOne({ _id: id }, { projection: { state: 1 } }));
      return batch === null || batch.state === 'open';
    },
    /** Returns whether a batch is in the log, with its rows written. If not, it never will be. */
    async settle(id: string): Promise<'landed' | 'barred'> {
      await findOrMake(id, 'undone', []);
      return end(id);
    },
    /** Returns the streams whose rows must not be written yet. The process that ends their batch writes them. */
    async pendingBatchStreams(): Promise<ReadonlySet<string>> {
      const pending = await connection.call((db) =>
        batches(db)
          .find({ state: { $in: ['open', 'ending'] } })
          .toArray(),
      );
      const streams = new Set<string>();
      for (const batch of pending) {
        // Threat: a forged batch prevents a stream's row from being written.
        if (await isAuthentic(batch)) for (const { stream } of batch.intents) streams.add(stream);
      }
      return streams;
    },
    /** Ends abandoned batches, and removes batches that ended two days ago. Returns the number of abandoned batches. */
    async clear(): Promise<number> {
      const olderThan = (ms: number) => ({ $expr: { $lt: ['$openedAt', { $subtract: ['$$NOW', ms] }] } });
      const find = (states: readonly Batch['state'][], ms: number) =>
        connection.call((db) =>
          batches(db)
            .find({ state: { $in: [...states] }, ...olderThan(ms) })
            .toArray(),
        );
      for (const { _id } of await find(['done'], waits.ownerMs)) await end(_id);
      const abandoned = await find(['open', 'ending'], waits.batchMs);
      for (const { _id } of abandoned) await end(_id);
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

/**
 * Deletes an intended token and its keys if it was created; otherwise, bars its creation. Idempotent, even across
 * processes.
 */
async function undoCreation({ log, now, destroyKeys, project }: UndoCreationDeps, intent: Intent): Promise<void> {
  const { stream, tenantId, expectedRevision, eventIds } = intent;
  const landed = (await settle(log, intent, now())) === 'landed';
  for (;;) {
    const { state } = (await log.readStream(stream)).reduce(applyToView, emptyView(stream, tenantId));
    const { life, revision, ended } = state;
    const born = life === null ? -1 : life.createdRevision - expectedRevision - 1;
    if (!landed || life === null || born < 0 || born >= eventIds.length) {
      // Updates the row first, because a readable row must not name a destroyed key.
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
    // The next read shows whether this event was stored or another process got there first.
    await log.append(stream, revision, [event]);
  }
}
