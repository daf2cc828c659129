import { expect, test } from 'vitest';
import { MongoBroken, type MongoConnection } from '#src/adapters/mongodb/connection.js';
import { completeIndexes } from '#src/compose/cluster/cluster-stores.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';

const late = new StoreUnavailable('mongodb', 'no_answer');
const dead = new StoreUnavailable('mongodb', 'unreachable');

/**
 * Creates indexes with calls that have these outcomes, and returns how many calls were made. Between two calls that
 * create indexes, there is a call that writes.
 */
async function callsFor(outcomes: readonly (Error | null)[]): Promise<number> {
  let calls = 0;
  const connection: Partial<MongoConnection> = {
    async call<T>() {
      const outcome = outcomes[calls] ?? null;
      calls += 1;
      if (outcome !== null) throw outcome;
      return undefined as T;
    },
  };
  await completeIndexes(connection as MongoConnection, async () => undefined);
  return calls;
}

test('an index that takes longer than a call may take is completed by later calls', async () => {
  expect(await callsFor([])).toBe(1);
  expect(await callsFor([late, null, late, null, late, null, null])).toBe(7);
});

test('if the server no longer confirms writes, or rejects the user, indexes are not asked for again', async () => {
  await expect(callsFor([late, dead])).rejects.toBe(dead);
  const rejected = new MongoBroken('the user lacks a permission');
  await expect(callsFor([late, null, rejected])).rejects.toBe(rejected);
});
