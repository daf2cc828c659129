import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Collection, Db, Filter } from 'mongodb';
import { atMost } from '../../../domain/at-most.js';
import { keysOf, type TokenState } from '../../../domain/token/token-state.js';
import { systemEvent } from '../../../events/event.js';
import { tokenEventVersion } from '../../../events/tokens/catalogue.js';
import type { EndedKey } from '../../../ports/key-store.js';
import { isOlderThan } from '../age.js';
import { batchesCollection } from '../work-indexes.js';
import { type Intent, settle } from './intent.js';
import type { WorkDeps } from './work-deps.js';
import { intentFacts, isAuthenticWork, workMac } from './work-mac.js';

/**
 * The tokens that one request creates. Either all of them are created or none are. A batch has landed if the log
 * contains all of its creations. Only the log determines whether a batch has landed. The state records what remains to
 * be done:
 * - `open`: the owner is appending the events.
 * - `done`: the owner has appended all events.
 * - `ending`: another process is settling the batch.
 * - `shown`: the batch has landed, and its rows have been written.
 * - `undone`: the batch has not landed, and the tokens that it created have been deleted.
 */
type Batch = {
  readonly _id: string;
  readonly state: 'open' | 'done' | 'shown' | 'ending' | 'undone';
  readonly openedAt: Date;
  readonly intents: readonly Intent[];
  /** The MAC over the id and the intents. */
  readonly mac: Buffer;
};

const keptMs = 2 * 24 * 3_600_000;
const streamsAtOnce = 16;
const pollMs = 25;

type Deps = WorkDeps & {
  readonly destroyKeys: (ended: readonly EndedKey[]) => Promise<unknown>;
  /** Reads the state of a token from the log. */
  readonly stateOf: (tenantId: string, stream: string) => Promise<TokenState>;
};

export type Batches = ReturnType<typeof createBatches>;

/**
 * Creates the functions that manage batches. A batch creates several tokens in a log that has no transactions across
 * streams (docs/design.md, "Tokenize"). As long as a batch might still be undone, no process writes rows for its
 * tokens, so these tokens cannot be read. For the same reason, a command that finds such a token in the log settles the
 * batch before it changes the token or responds (`settlePending`).
 */
export function createBatches({ connection, log, waits, workKey, now, destroyKeys, project, stateOf }: Deps) {
  const batches = (db: Db): Collection<Batch> => db.collection<Batch>(batchesCollection);

  async function move(id: string, from: readonly Batch['state'][], to: Batch['state']): Promise<Batch | null> {
    return connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id, state: { $in: [...from] } }, { $set: { state: to } }),
    );
  }

  /**
   * Returns the stored batch with this id. If no such batch exists, stores a new batch with this state and these
   * intents, and returns it.
   */
  async function findOrMake(id: string, state: Batch['state'], intents: readonly Intent[]): Promise<Batch> {
    // In an update pipeline, MongoDB interprets a string that begins with `$$` as a variable. Values that could contain
    // such a string are therefore wrapped in `$literal`.
    const mac = await workMac(workKey, { in: 'batches', id }, intents.map(intentFacts));
    const made = { _id: id, openedAt: '$$NOW', state, intents: { $literal: intents }, mac: { $literal: mac } };
    const isMissing = { $eq: [{ $type: '$state' }, 'missing'] };
    const batch = await connection.call((db) =>
      batches(db).findOneAndUpdate({ _id: id }, [{ $replaceWith: { $cond: [isMissing, made, '$$ROOT'] } }], {
        upsert: true,
        returnDocument: 'after',
      }),
    );
    if (batch === null) throw new Error('an upsert returned no document');
    return batch;
  }

  function isAuthentic({ _id, intents, mac }: Batch): Promise<boolean> {
    return isAuthenticWork(workKey, { in: 'batches', id: _id }, mac, () => intents.map(intentFacts));
  }

  /**
   * Settles a batch. First bars each creation that is not in the log. If all creations are in the log, writes their
   * rows. Otherwise, deletes the tokens that were created. If the batch was not recorded by the vault, changes no
   * tokens. It is safe to repeat the call, even from another process.
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
    await atMost(streamsAtOnce, intents, (intent) => undoCreation({ log, now, destroyKeys, project, stateOf }, intent));
    await move(id, ['done', 'ending', 'shown'], 'undone');
    return 'barred';
  }

  async function isOpen(id: string): Promise<boolean> {
    const batch = await connection.call((db) => batches(db).findOne({ _id: id }, { projection: { state: 1 } }));
    return batch === null || batch.state === 'open';
  }

  async function settleBatch(id: string): Promise<'landed' | 'barred'> {
    await findOrMake(id, 'undone', []);
    return end(id);
  }

  /**
   * Returns the batches that have not ended. Threat: an attacker stores a forged batch to keep the rows of its streams
   * from being written. Only authentic batches are returned.
   */
  async function pendingBatches(filter: Filter<Batch>): Promise<readonly Batch[]> {
    const found = await connection.call((db) =>
      batches(db)
        .find({ state: { $in: ['open', 'ending'] }, ...filter })
        .toArray(),
    );
    const areAuthentic = await Promise.all(found.map(isAuthentic));
    return found.filter((_, index) => areAuthentic[index]);
  }

  return {
    /**
     * Opens a batch. Call this before any event of the batch is appended. Returns false if another process has already
     * barred the batch.
     */
    async open(id: string, intents: readonly Intent[]): Promise<boolean> {
      return (await findOrMake(id, 'open', intents)).state === 'open';
    },
    /** Records that all events of a batch are in the log. */
    async finish(id: string): Promise<void> {
      await move(id, ['open', 'ending'], 'done');
    },
    /** Records that the rows of a finished batch have been written. */
    async shown(id: string): Promise<void> {
      await move(id, ['done'], 'shown');
    },
    end,
    /** Ends a batch. Call this only if no event of the batch has been or will be appended. */
    async cancel(id: string): Promise<void> {
      await move(id, ['open'], 'undone');
    },
    /**
     * Returns true if a batch's owner may still finish it. Also returns true if the batch does not exist, because its
     * owner may still open it.
     */
    isOpen,
    /**
     * Settles a batch. Returns `landed` if the batch is in the log and its rows have been written. Returns `barred` if
     * the batch is not in the log and can never be added to it.
     */
    settle: settleBatch,
    /**
     * Settles the pending batches that contain one of these streams. Before that, waits up to `ownerMs` for their
     * owners to finish them.
     */
    async settlePending(streams: readonly string[]): Promise<void> {
      const pending = await pendingBatches({ 'intents.stream': { $in: [...streams] } });
      await atMost(streamsAtOnce, pending, async ({ _id }) => {
        const until = performance.now() + waits.ownerMs;
        while ((await isOpen(_id)) && performance.now() < until) await wait(pollMs);
        await settleBatch(_id);
      });
    },
    /**
     * Returns the streams whose rows must not be written yet, because their batch has not ended. The row of such a
     * stream is written when the batch ends.
     */
    async pendingBatchStreams(): Promise<ReadonlySet<string>> {
      const pending = await pendingBatches({});
      return new Set(pending.flatMap(({ intents }) => intents.map(({ stream }) => stream)));
    },
    /**
     * Ends abandoned batches. Also removes ended batches that were opened more than two days ago. Returns the number of
     * abandoned batches. If a batch cannot be ended, for example because a key is lost, ends the other batches before
     * it throws the error.
     */
    async clear(): Promise<number> {
      const find = (states: readonly Batch['state'][], ms: number) =>
        connection.call((db) =>
          batches(db)
            .find({ state: { $in: [...states] }, $expr: isOlderThan('$openedAt', ms) })
            .toArray(),
        );
      const finished = await find(['done'], waits.ownerMs);
      const abandoned = await find(['open', 'ending'], waits.batchMs);
      const failures: unknown[] = [];
      for (const { _id } of [...finished, ...abandoned]) {
        await end(_id).catch((error: unknown) => failures.push(error));
      }
      const isForgotten = { $lt: ['$openedAt', { $subtract: ['$$NOW', keptMs] }] };
      await connection.call((db) =>
        batches(db).deleteMany({ state: { $in: ['shown', 'undone'] }, $expr: isForgotten }),
      );
      if (failures.length > 0) throw failures[0];
      return abandoned.length;
    },
  };
}

type UndoCreationDeps = Pick<Deps, 'log' | 'now' | 'destroyKeys' | 'project' | 'stateOf'>;

/**
 * If the intended token was created, deletes the token and its keys. Otherwise, bars its creation. It is safe to repeat
 * the call, even from another process.
 */
async function undoCreation(
  { log, now, destroyKeys, project, stateOf }: UndoCreationDeps,
  intent: Intent,
): Promise<void> {
  const { stream, tenantId, expectedRevision, eventIds } = intent;
  const landed = (await settle(log, intent, now())) === 'landed';
  for (;;) {
    const { life, revision, ended } = await stateOf(tenantId, stream);
    const born = life === null ? -1 : life.createdRevision - expectedRevision - 1;
    if (!landed || life === null || born < 0 || born >= eventIds.length) {
      // Updates the row before the keys are destroyed, because a readable row must not refer to a destroyed key.
      await project(tenantId, stream);
      await destroyKeys(ended);
      return;
    }
    const event = systemEvent({
      id: randomUUID(),
      // Even if the token has expired since: for the tenant, it never existed.
      type: 'token.deleted',
      version: tokenEventVersion,
      tenantId,
      time: now(),
      clear: { reason: 'undone', ends: [...keysOf(life)] },
    });
    // If another process appends an event first, this append fails. The next read of the stream shows which event was
    // stored.
    await log.append(stream, revision, [event]);
  }
}
