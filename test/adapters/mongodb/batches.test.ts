import type { Db } from 'mongodb';
import { expect, test } from 'vitest';
import type { MongoConnection } from '#src/adapters/mongodb/connection.js';
import { createBatches } from '#src/adapters/mongodb/work/batches.js';
import type { Intent } from '#src/adapters/mongodb/work/intent.js';
import { usualWaits } from '#src/adapters/mongodb/work/waits.js';
import { intentFacts, workMac } from '#src/adapters/mongodb/work/work-mac.js';
import type { EventLog } from '#src/ports/event-log.js';

const workKey = async () => new Uint8Array(32);

type Stored = { readonly _id: string; state: string; readonly intents: readonly Intent[]; readonly mac: Buffer };

async function batchOf(id: string, state: string): Promise<Stored> {
  const intents = [{ stream: `token-${id}`, tenantId: 't', expectedRevision: -1, eventIds: [`event-${id}`] }];
  return { _id: id, state, intents, mac: await workMac(workKey, { in: 'batches', id }, intents.map(intentFacts)) };
}

/** Stands in for the collection, because only the states matter here. All batches are old. */
function collectionOf(stored: readonly Stored[]) {
  const isIn = ({ state }: Stored, states: readonly string[]) => states.includes(state);
  type States = { readonly state: { readonly $in: readonly string[] } };
  return {
    find: ({ state }: States) => ({ toArray: async () => stored.filter((one) => isIn(one, state.$in)) }),
    findOne: async ({ _id }: { readonly _id: string }) => stored.find((one) => one._id === _id) ?? null,
    async findOneAndUpdate(
      { _id, state }: States & { readonly _id: string },
      { $set }: { readonly $set: { readonly state: string } },
    ) {
      const found = stored.find((one) => one._id === _id && isIn(one, state.$in));
      return found === undefined ? null : Object.assign(found, $set);
    },
    deleteMany: async () => undefined,
  };
}

test('a batch that cannot be ended does not prevent the end of other batches', async () => {
  const stored = await Promise.all([
    batchOf('lost-1', 'done'),
    batchOf('a', 'done'),
    batchOf('lost-2', 'open'),
    batchOf('b', 'open'),
    batchOf('c', 'ending'),
  ]);
  const db = { collection: () => collectionOf(stored) } as object as Db;
  const batches = createBatches({
    connection: { call: (work: (given: Db) => unknown) => work(db) } as object as MongoConnection,
    // Every creation is in the log.
    log: {
      readClearFrom: async (stream: string) => [{ revision: 0, id: stream.replace('token-', 'event-') }],
    } as object as EventLog,
    waits: usualWaits,
    workKey,
    now: Date.now,
    destroyKeys: () => expect.unreachable('no batch is undone'),
    stateOf: () => expect.unreachable('no batch is undone'),
    async project(_, stream) {
      if (stream.includes('lost')) throw new Error(`the key of ${stream} is lost`);
    },
  });
  await expect(batches.clear()).rejects.toThrow('the key of token-lost-1 is lost');
  expect(Object.fromEntries(stored.map(({ _id, state }) => [_id, state]))).toEqual({
    'lost-1': 'done',
    a: 'shown',
    'lost-2': 'ending',
    b: 'shown',
    c: 'shown',
  });
});
