import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { mongoTokenRows } from '#src/adapters/mongodb/token-rows/token-rows.js';
import { tokenRowsIndexes } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import type { PlanNode } from '#src/ports/search-plan.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import type { TokenRows } from '#src/ports/token-rows.js';
import { aHash } from '../../contract/support.js';
import { type MongoDatabase, mongoDatabase } from '../own-database.js';
import { aRow, aTerm, type SampleRow, writeRows } from './a-row.js';

/** The server's report about one operation of the adapter. */
type Profiled = {
  readonly planSummary?: string;
  readonly keysExamined?: number;
  readonly docsExamined?: number;
  readonly nreturned?: number;
  readonly op: string;
  readonly command: Record<string, unknown>;
};

const rowCount = 20_000;
const [all, half, third, rare] = [aTerm(), aTerm(), aTerm(), aTerm()];
const term = (of: string): PlanNode => ({ kind: 'term', term: of });

let database: MongoDatabase;
let rows: TokenRows;
let writer: ReturnType<typeof mongoRowWriter>;
let sample: SampleRow;

beforeAll(async () => {
  database = await mongoDatabase();
  const { db } = database.connection;
  await ensureIndexes(db, [tokenRowsIndexes(1)]);
  rows = mongoTokenRows(database.connection, 1);
  writer = mongoRowWriter(database.connection, 1);
  const made = Array.from({ length: rowCount }, (_, i) =>
    aRow({
      seq: i,
      createdAt: i,
      modifiedAt: i % 2 === 0 ? i : null,
      expiresAt: i % 400 === 1 ? i : null,
      terms: [all, ...(i % 2 === 0 ? [half] : []), ...(i % 3 === 0 ? [third] : []), ...(i === 12_000 ? [rare] : [])],
    }),
  );
  sample = made[6] as SampleRow;
  await writeRows(writer, made);
  await db.command({ profile: 2 });
});

afterAll(() => database.drop());

/**
 * Removes all operations from the profile. They also have times, but two operations can have the same time, to the
 * millisecond.
 */
async function emptyProfile(): Promise<void> {
  const { db } = database.connection;
  await db.command({ profile: 0 });
  await db.collection('system.profile').drop();
  await db.command({ profile: 2 });
}
beforeEach(emptyProfile);

/** Returns the profile of all operations on the rows since the profile was emptied. */
async function profiled(): Promise<readonly Profiled[]> {
  const found = await database.connection.db
    .collection<Profiled>('system.profile')
    .find({ ns: /\.token_rows_1$/ })
    .sort({ $natural: 1 })
    .toArray();
  expect(found.length).toBeGreaterThan(0);
  for (const { planSummary = '', op } of found) {
    expect(planSummary, op).toMatch(/^(IXSCAN|COUNT_SCAN|IDHACK|EXPRESS)/);
  }
  return found;
}

/**
 * Returns all profiled operations except the counts at the start of a search. A search first counts the rows of its
 * terms, up to a thousand, to estimate how common they are.
 */
async function walks(): Promise<readonly Profiled[]> {
  return (await profiled()).filter(({ command }) => !JSON.stringify(command['pipeline'] ?? '').includes('"$limit"'));
}

async function search(where: PlanNode, given: { offset?: number; limit?: number; now?: number } = {}) {
  return rows.search({ tenantId: 'tenant', generation: 1, all, where }, { now: 0, offset: 0, limit: 20, ...given });
}

test('a search for a rare and a common term examines one key, in either order of the terms', async () => {
  for (const of of [
    [half, rare],
    [rare, half],
    [half, third, rare],
  ]) {
    await emptyProfile();
    expect((await search({ kind: 'and', of: of.map(term) })).total).toBe(1);
    const [page, ...others] = await walks();
    expect(page).toMatchObject({ planSummary: 'IXSCAN { terms: 1, seq: -1 }', keysExamined: 1, docsExamined: 1 });
    expect(others).toEqual([]);
  }
});

test('the estimate for a term stops at a thousand keys, and reads no rows', async () => {
  await search({ kind: 'and', of: [term(half), term(third)] });
  const weighed = (await profiled()).filter(({ command }) => JSON.stringify(command).includes('"$limit":1000'));
  expect(weighed).toHaveLength(2);
  for (const one of weighed) expect(one).toMatchObject({ keysExamined: 1_000, docsExamined: 0 });
});

test('a page for a common term reads only the rows on the page, and the count reads no rows', async () => {
  expect((await search(term(half))).total).toBe(rowCount / 2);
  const [page, ...counts] = await walks();
  expect(page).toMatchObject({ keysExamined: 20, docsExamined: 20, nreturned: 20 });
  expect(counts).toHaveLength(1);
  expect(counts[0]).toMatchObject({ planSummary: 'COUNT_SCAN { terms: 1, seq: -1 }', docsExamined: 0 });
});

test('if a few rows are due, a search for everything reads only the due rows to count', async () => {
  expect((await search({ kind: 'and', of: [] }, { now: 801 })).total).toBe(rowCount - 3);
  const [page, ...counts] = await walks();
  expect(page).toMatchObject({ keysExamined: 20 });
  expect(counts.map(({ planSummary }) => planSummary).sort()).toEqual([
    'COUNT_SCAN { terms: 1, seq: -1 }',
    'IXSCAN { expires_at: 1 }',
  ]);
  for (const { docsExamined } of counts) expect(docsExamined).toBeLessThanOrEqual(3);
});

test('for either of two common terms, the page merges both from the newest token on, and the count reads only the index', async () => {
  expect((await search({ kind: 'or', of: [term(half), term(third)] })).total).toBe(13_333);
  const [page, count] = await walks();
  expect(page?.keysExamined).toBeLessThan(40);
  expect(page).not.toHaveProperty('hasSortStage');
  expect(count).toMatchObject({ docsExamined: 0 });
});

test('a search for NOT with a term reads few rows for a page', async () => {
  expect((await search({ kind: 'not', of: term(rare) })).total).toBe(rowCount - 1);
  const [page] = await walks();
  expect(page).toMatchObject({ planSummary: 'IXSCAN { terms: 1, seq: -1 }', keysExamined: 20 });
});

test.each(['created_at', 'modified_at'] as const)(
  'a short range of %s is walked, whatever else the query contains',
  async (column) => {
    const range: PlanNode = { kind: 'date', column, from: 600, to: 700 };
    expect((await search({ kind: 'and', of: [term(half), range] })).total).toBe(50);
    for (const { planSummary, keysExamined } of await walks()) {
      expect(planSummary).toBe(`IXSCAN { tenant: 1, ${column}: 1 }`);
      expect(keysExamined).toBeLessThanOrEqual(101);
    }
  },
);

test('a long date range is counted from its index alone', async () => {
  expect((await search({ kind: 'date', column: 'created_at', from: 600, to: null })).total).toBe(rowCount - 600);
  const [page, count] = await walks();
  expect(page).toMatchObject({ planSummary: 'IXSCAN { terms: 1, seq: -1 }', keysExamined: 20 });
  expect(count).toMatchObject({ planSummary: 'COUNT_SCAN { tenant: 1, created_at: 1 }', docsExamined: 0 });
});

test('every other lookup examines only as many keys as it returns', async () => {
  const { stream, seq } = sample;
  await rows.get(stream);
  await writer.revisionsOf([stream, 'token-unknown']);
  await rows.findByFingerprint('tenant', aHash(), 0, 9);
  await rows.due(seq, 10);
  await rows.nextDueAt();
  await writer.forgetTombstones(Number.MAX_SAFE_INTEGER);
  for (const { keysExamined } of await profiled()) expect(keysExamined).toBeLessThanOrEqual(3);
});

test('live tokens are counted by type from the index, and only due tokens are read', async () => {
  expect([...(await rows.countByType('tenant', 401))]).toEqual([['card', rowCount - 2]]);
  for (const { docsExamined } of await profiled()) expect(docsExamined).toBeLessThanOrEqual(2);
});

test('a search that takes too long fails with that reason, whether the limit passes on the server or before the search is sent', async () => {
  const where: PlanNode = { kind: 'or', of: [term(rare), { kind: 'not', of: term(half) }] };
  for (const limitMs of [0, 3]) {
    const impatient = mongoTokenRows(database.connection, 1, limitMs);
    const searching = impatient.search(
      { tenantId: 'tenant', generation: 1, all, where },
      { now: 0, offset: 0, limit: 20 },
    );
    const error = await searching.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ store: 'mongodb', reason: 'search_took_too_long' });
  }
});
