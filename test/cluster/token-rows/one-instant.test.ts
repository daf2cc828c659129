import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { mongoTokenRows } from '#src/adapters/mongodb/token-rows/token-rows.js';
import { tokenRowsIndexes } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import type { TokenRows } from '#src/ports/token-rows.js';
import { type MongoDatabase, mongoDatabase } from '../own-database.js';
import { aRow, aTerm, rowWrite, writeRows } from './a-row.js';

let database: MongoDatabase;
let writer: ReturnType<typeof mongoRowWriter>;
let rows: TokenRows;

beforeAll(async () => {
  database = await mongoDatabase();
  await ensureIndexes(database.connection.db, [tokenRowsIndexes(1)]);
  writer = mongoRowWriter(database.connection, 1);
  rows = mongoTokenRows(database.connection, 1);
});

afterAll(() => database.drop());

/** Writes one row after another until `read` has finished. */
async function whileWriting<T>(write: () => Promise<unknown>, read: () => Promise<T>): Promise<T> {
  let ended = false;
  const writing = (async () => {
    while (!ended) await write();
  })();
  try {
    return await read();
  } finally {
    ended = true;
    await writing;
  }
}

/**
 * Tokens with a common term are created one after another. The newest token on a page therefore shows how many tokens
 * existed when the page was read. If the total were read later than the page, the total would be higher than this
 * number.
 */
test('a page and its total come from one snapshot, even while other processes write', async () => {
  const all = aTerm();
  let created = 0;
  const create = () => {
    created += 1;
    const { view, index } = rowWrite(aRow({ seq: created, terms: [all] }));
    return writer.write(view, index, -1, 0);
  };
  for (let i = 0; i < 10; i += 1) await create();
  const search = async () => {
    const request = { tenantId: 'tenant', generation: 1, all, where: { kind: 'and', of: [] } } as const;
    const { total, rows: found } = await rows.search(request, { now: 0, offset: 0, limit: 5 });
    return { total, newest: found[0]?.state.life?.createdPosition };
  };
  const answers = await whileWriting(create, async () => {
    const found: Awaited<ReturnType<typeof search>>[] = [];
    for (let i = 0; i < 60; i += 1) found.push(...(await Promise.all([search(), search(), search()])));
    return found;
  });
  expect(answers.filter(({ total, newest }) => total !== newest)).toEqual([]);
  expect(new Set(answers.map(({ total }) => total)).size).toBeGreaterThan(3);
});

/**
 * The row always has exactly one of two terms, and each update replaces that term with the other one. A search for
 * either of the two terms must always find the row.
 */
test('a row whose terms change is found by its old or its new terms at every moment', async () => {
  const [all, one, other] = [aTerm(), aTerm(), aTerm()];
  const row = aRow({ seq: 1, terms: [all, one] });
  await writeRows(writer, [row, ...Array.from({ length: 30 }, (_, i) => aRow({ seq: 2 + i, terms: [all, one] }))]);
  let revision = 0;
  const move = () => {
    revision += 1;
    const { view, index } = rowWrite({ ...row, terms: [all, revision % 2 === 0 ? one : other] }, revision);
    return writer.write(view, index, revision - 1, 0);
  };
  const where = { kind: 'or' as const, of: [one, other].map((term) => ({ kind: 'term' as const, term })) };
  const totals = await whileWriting(move, async () => {
    const found = new Set<number>();
    for (let i = 0; i < 150; i += 1) {
      found.add(
        (await rows.search({ tenantId: 'tenant', generation: 1, all, where }, { now: 0, offset: 0, limit: 5 })).total,
      );
    }
    return found;
  });
  expect([...totals]).toEqual([31]);
});

test('the next search sees every acknowledged change', async () => {
  const all = aTerm();
  for (let seq = 1; seq <= 100; seq += 1) {
    const { view, index } = rowWrite(aRow({ seq, terms: [all] }));
    await writer.write(view, index, -1, 0);
    const request = { tenantId: 'tenant', generation: 1, all, where: { kind: 'and', of: [] } } as const;
    expect((await rows.search(request, { now: 0, offset: 0, limit: 1 })).total).toBe(seq);
  }
});
