import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { mongoTokenRows } from '#src/adapters/mongodb/token-rows/token-rows.js';
import { tokenRowsIndexes } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import type { PlanNode } from '#src/ports/search-plan.js';
import type { TokenRows } from '#src/ports/token-rows.js';
import { type MongoDatabase, mongoDatabase } from '../own-database.js';
import { aRow, aTerm, type SampleRow, writeRows } from './a-row.js';
import { naiveSearch } from './naive-search.js';

const tenants = ['tenant', 'another'] as const;
const all = { tenant: aTerm(), another: aTerm() };
/**
 * The percentages of rows that have each term. A search stops counting a term's rows at a limit, so some of these terms
 * have more rows than the limit and others have fewer. One term has just a few rows, and the last term has no rows.
 */
const shares = [95, 60, 45, 30, 10, 3, 0.1, 0];
const termsOf = { tenant: shares.map(aTerm), another: shares.map(aTerm) };
/**
 * A search treats a small number of due rows, or a short date range, as a special case. There are enough rows that this
 * case applies to some searches but not to others.
 */
const rowCount = 4_000;
const spanMs = 10_000;

let database: MongoDatabase;
let rows: TokenRows;
const population: SampleRow[] = [];

beforeAll(async () => {
  database = await mongoDatabase();
  await ensureIndexes(database.connection.db, [tokenRowsIndexes(1)]);
  rows = mongoTokenRows(database.connection, 1);
  for (let index = 0; index < rowCount; index += 1) {
    const [isOther, at, modified, expires, ...has] = chances(index) as [number, number, number, number, ...number[]];
    const tenantId = tenants[isOther < 0.1 ? 1 : 0];
    population.push(
      aRow({
        tenantId,
        seq: 1 + index * 1_000_000_007,
        createdAt: Math.floor(at * spanMs),
        modifiedAt: modified < 0.5 ? Math.floor(modified * 2 * spanMs) : null,
        expiresAt: expires < 0.5 ? Math.floor(expires * 2 * spanMs) : null,
        terms: [all[tenantId], ...termsOf[tenantId].filter((_, i) => (has[i] ?? 1) * 100 < (shares[i] ?? 0))],
      }),
    );
  }
  await writeRows(mongoRowWriter(database.connection, 1), population);
});

afterAll(() => database.drop());

/** Returns twelve pseudo-random numbers between 0 and 1. The same argument always gives the same numbers. */
function chances(index: number): readonly number[] {
  const bytes = createHash('sha512').update(String(index)).digest();
  return Array.from({ length: 12 }, (_, i) => bytes.readUInt32LE(i * 4) / 2 ** 32);
}

const instant = fc.option(fc.nat(spanMs), { freq: 4 });
const plansOf = (terms: readonly string[]) =>
  fc.letrec<{ plan: PlanNode }>((tie) => ({
    plan: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 4, arbitrary: fc.constantFrom(...terms).map((term) => ({ kind: 'term' as const, term })) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('date' as const),
          column: fc.constantFrom('created_at' as const, 'modified_at' as const),
          from: instant,
          to: instant,
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('not' as const), of: tie('plan') }) },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constantFrom('and' as const, 'or' as const),
          of: fc.array(tie('plan'), { maxLength: 3 }),
        }),
      },
    ),
  })).plan;

const requests = fc.constantFrom(...tenants).chain((tenantId) =>
  fc.record({
    tenantId: fc.constant(tenantId),
    where: plansOf(termsOf[tenantId]),
    page: fc.record({
      now: fc.constantFrom(-1, 500, spanMs),
      offset: fc.constantFrom(0, 0, 5, 900, 5_000),
      limit: fc.constantFrom(1, 20, 100),
    }),
  }),
);

test('every page of every plan returns the same rows and total as a full scan', async () => {
  await fc.assert(
    fc.asyncProperty(requests, async ({ tenantId, where, page }) => {
      const plan = { tenantId, generation: 1, all: all[tenantId], where };
      const found = await rows.search(plan, page);
      const streams = found.rows.map(({ stream }) => stream);
      expect({ total: found.total, streams }).toEqual(naiveSearch(population, plan, page));
    }),
    { numRuns: 600 },
  );
});

test('a plan with the maximum depth and width of a query works', async () => {
  const leaf = (i: number): PlanNode => ({ kind: 'term', term: termsOf.tenant[i % shares.length] ?? '' });
  let where = leaf(0);
  for (let depth = 0; depth < 32; depth += 1) {
    where = { kind: 'not', of: { kind: depth % 2 === 0 ? 'and' : 'or', of: [where, leaf(depth), leaf(depth + 3)] } };
  }
  const wide: PlanNode = { kind: 'or', of: Array.from({ length: 300 }, () => ({ kind: 'term', term: aTerm() })) };
  for (const plan of [where, { kind: 'or', of: [leaf(6), wide] } as const]) {
    const request = { tenantId: 'tenant', generation: 1, all: all.tenant, where: plan };
    const page = { now: 500, offset: 0, limit: 20 };
    const found = await rows.search(request, page);
    expect({ total: found.total, streams: found.rows.map(({ stream }) => stream) }).toEqual(
      naiveSearch(population, request, page),
    );
  }
});
