import { expect, test } from 'vitest';
import { rowWriterInUse } from '#src/adapters/mongodb/generations/row-writer-in-use.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { tokenRowsCollection } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import type { RowIndex } from '#src/ports/unit-of-work.js';
import type { Stored } from '#src/views/row-mac.js';
import type { TokenView } from '#src/views/token-view.js';
import { aHash, atNoon, noTokenYet, tokenCreated, tokenDeleted, tokenUpdated } from '../../contract/support.js';
import { databaseOfTest } from '../own-database.js';
import { after } from './a-row.js';

const created = () => after(noTokenYet(), tokenCreated());
const foundBy = (...generations: readonly number[]): RowIndex => ({
  fingerprintHash: aHash(),
  terms: Object.fromEntries(generations.map((generation) => [generation, [aHash().slice(0, 32)]])),
});

test('concurrent rows are written to every active generation, and each caller gets the result for its own row', async () => {
  const { connection } = await databaseOfTest();
  const ended: string[] = [];
  let groups = 0;
  const fresh = async () => {
    groups += 1;
    return { read: 1, write: [1, 2], at: performance.now() };
  };
  const writer = rowWriterInUse(connection, { fresh }, async (stream) => void ended.push(stream));

  const whole = Array.from({ length: 30 }, created);
  const twice = created();
  const [lacksTerms, keepsNothing, removed] = [created(), created(), after(created(), tokenDeleted())];
  const rows: readonly (readonly [Stored<TokenView>, RowIndex])[] = [
    ...whole.map((view) => [view, foundBy(1, 2)] as const),
    [after(twice, tokenUpdated()), foundBy(1, 2)],
    [twice, foundBy(1, 2)],
    [lacksTerms, foundBy(1)],
    [after(keepsNothing, tokenUpdated()), 'keep'],
    [removed, 'keep'],
  ];
  const outcomes = await Promise.all(
    rows.map(([view, index]) => writer.write(view, index, view.state.revision - 1, atNoon)),
  );

  expect(outcomes).toEqual([...whole.map(() => 'stored'), 'stored', 'stored', 'gap', 'gap', 'stored']);
  expect(groups).toBeLessThanOrEqual(2);
  expect(ended).toEqual([removed.stream]);
  const streams = rows.map(([{ stream }]) => stream);
  for (const generation of [1, 2]) {
    const stored = await mongoRowWriter(connection, generation).revisionsOf(streams);
    expect(whole.map(({ stream }) => stored.get(stream))).toEqual(whole.map(() => 0));
    expect([twice, removed].map(({ stream }) => stored.get(stream))).toEqual([1, 1]);
    expect(stored.get(lacksTerms.stream)).toBe(generation === 1 ? 0 : undefined);
    expect(stored.has(keepsNothing.stream)).toBe(false);
  }
});

test('the generation in use is written last, so every row that a reader sees there is also in the other generations', async () => {
  const { connection } = await databaseOfTest();
  const [refusing, kept] = [created(), created()];
  // MongoDB rejects this row in generation 2, which is written but not read yet.
  const validator = { _id: { $ne: refusing.stream } };
  await connection.db.createCollection(tokenRowsCollection(2), { validator });
  const fresh = async () => ({ read: 1, write: [1, 2], at: performance.now() });
  const writer = rowWriterInUse(connection, { fresh }, async () => undefined);
  await expect(writer.write(refusing, foundBy(1, 2), -1, atNoon)).rejects.toThrow();
  expect(await writer.write(kept, foundBy(1, 2), -1, atNoon)).toBe('stored');
  const stored = await mongoRowWriter(connection, 1).revisionsOf([refusing.stream, kept.stream]);
  expect([...stored]).toEqual([[kept.stream, 0]]);
});
