import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { isExpired, keysOf } from '../../../domain/token/token-state.js';
import { type NewEvent, noSealedParts } from '../../../events/event.js';
import { tokenEventVersion } from '../../../events/tokens/catalogue.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { EndedKey } from '../../../ports/key-ring.js';
import { applyToView, emptyView } from '../../../projections/token-view.js';
import { atMost } from '../at-most.js';
import type { MongoConnection } from '../connection.js';
import { type Intent, settle } from './intent.js';
import type { Waits } from './waits.js';
import { batchesCollection } from './work-indexes.js';

/** Tokens that one request creates, all or none. `open` until all are in the log or the first is undone. */
type Batch = {
  readonly _id: string;
  readonly state: 'open' | 'done' | 'undoing' | 'undone';
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

/** Creations of several tokens over a log that knows no transaction over streams (architecture, "Tokenize"). */
export function createBatches({ connection, log, waits, now, destroyKeys, project }: Needs) {
  const batches = (db: Db): Collection<Batch> => db.collection<Batch>(batchesCollection);

  async function move(id: string, from: readonly Batch['state'][], to: Batch['state']): Promise<Batch | null> {
    return connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id, state: { $in: [...from] } }, { $set: { state: to } }),
    );
  }

  /** Ends the token that was created as intended, and its keys; bars what was not created. */
  async function undoOne(intent: Intent): Promise<void> {
    const { stream, tenantId, expectedRevision, eventIds } = intent;
    const what = await settle(log, intent, now());
    for (let done = what === 'barred'; !done; ) {
      const { state } = (await log.readStream(stream)).reduce(applyToView, emptyView(stream, tenantId));
      const { life, revision } = state;
      const born = life === null ? -1 : life.createdRevision - expectedRevision - 1;
      if (life === null || born < 0 || born >= eventIds.length) break;
      const at = now();
      const ended = isExpired(life, at)
        ? ({ type: 'token.expired', clear: { due_at: life.expiresAt ?? at, ends: [...keysOf(life)] } } as const)
        : ({ type: 'token.deleted', clear: { reason: 'undone', ends: [...keysOf(life)] } } as const);
      const event: NewEvent = {
        ...{ id: randomUUID(), version: tokenEventVersion, tenantId, actorId: 'system', time: at, ...ended },
        ...{ cmd: null, trace: null, sealed: noSealedParts },
      };
      done = (await log.append(stream, revision, [event])).outcome === 'appended';
      if (done) await destroyKeys(keysOf(life).map((keyId) => ({ keyId, eventId: event.id })));
    }
    await project(tenantId, stream);
  }

  async function undo(id: string): Promise<void> {
    const batch = await move(id, ['open', 'undoing'], 'undoing');
    if (batch === null) return;
    await atMost(streamsAtOnce, batch.intents, undoOne);
    await move(id, ['undoing'], 'undone');
  }

  return {
    async open(intents: readonly Intent[]): Promise<string> {
      const id = randomUUID();
      const opened = { state: 'open', intents: [...intents], openedAt: '$$NOW' } as const;
      await connection.call((db) =>
        batches(db).updateOne({ _id: id }, [{ $replaceWith: { _id: id, ...literal(opened) } }], { upsert: true }),
      );
      return id;
    },
    /** All is in the log. False: somebody has taken it for abandoned and undoes it. */
    async finish(id: string): Promise<boolean> {
      return (await move(id, ['open'], 'done')) !== null;
    },
    undo,
    /** Ends a batch of which nothing was appended, and nothing will be. */
    async cancel(id: string): Promise<void> {
      await move(id, ['open'], 'undone');
    },
    /** Whether a batch came to its end; one that did not never will. */
    async settle(id: string): Promise<'landed' | 'barred'> {
      const batch = await connection.call((db) => batches(db).findOne({ _id: id }));
      if (batch?.state === 'done') return 'landed';
      await undo(id);
      return (await connection.call((db) => batches(db).findOne({ _id: id, state: 'done' }))) === null
        ? 'barred'
        : 'landed';
    },
    /** Undoes what its process left open, and forgets what ended two days ago. Answers how many were undone. */
    async clear(): Promise<number> {
      const olderThan = (ms: number) => ({ $expr: { $lt: ['$openedAt', { $subtract: ['$$NOW', ms] }] } });
      const abandoned = await connection.call((db) =>
        batches(db)
          .find({ state: { $in: ['open', 'undoing'] }, ...olderThan(waits.batchMs) })
          .project<{ _id: string }>({ _id: 1 })
          .toArray(),
      );
      for (const { _id } of abandoned) await undo(_id);
      const ended = { state: { $in: ['done', 'undone'] as const }, ...olderThan(keptMs) };
      await connection.call((db) => batches(db).deleteMany({ ...ended, state: { $in: [...ended.state.$in] } }));
      return abandoned.length;
    },
  };
}

/** Values in a pipeline: what begins with `$$` is the server's. */
function literal({ openedAt, ...rest }: { readonly openedAt: '$$NOW' } & Omit<Batch, '_id' | 'openedAt'>) {
  return { openedAt, state: rest.state, intents: { $literal: rest.intents } };
}
