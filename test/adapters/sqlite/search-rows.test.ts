import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type SqliteDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { packStream } from '#src/adapters/sqlite/database/packed-text.js';
import { vaultSchema } from '#src/adapters/sqlite/database/vault-schema.js';
import { createSearchConnections, type SearchConnections } from '#src/adapters/sqlite/search/search-connections.js';
import { searchRows } from '#src/adapters/sqlite/search/search-rows.js';
import { changeOf } from '#src/adapters/sqlite/search-index/entries.js';
import { createIndexKeeper } from '#src/adapters/sqlite/search-index/index-keeper.js';
import type { PlanNode } from '#src/ports/search-plan.js';

/** There are so many rows that reading all of them takes many steps, but some date ranges contain only a few rows. */
const rowCount = 18_000;
const tenants = ['t1', 't2'];

type Row = {
  readonly seq: number;
  readonly tenant: string;
  readonly terms: ReadonlySet<string>;
  readonly created_at: number;
  readonly modified_at: number | null;
  readonly expires_at: number | null;
};

function term(tenant: string, name: string): string {
  return createHash('sha256').update(`${tenant}/${name}`).digest('hex').slice(0, 32);
}

const rows: readonly Row[] = Array.from({ length: rowCount }, (_, i) => {
  // The sequence numbers and the dates have gaps of different sizes. The order of the dates differs from that of the
  // sequence numbers.
  const tenant = i % 11 === 0 ? 't2' : 't1';
  const names = ['all', ...[2, 3, 7, 50, 900].filter((n) => i % n === 0).map((n) => `every-${n}`), `row-${i}`];
  return {
    seq: i * 3 + (i % 2),
    tenant,
    terms: new Set(names.map((name) => term(tenant, name))),
    created_at: 1_000_000 + ((i * 7_919) % rowCount) * 10,
    modified_at: i % 4 === 0 ? 2_000_000 + i : null,
    expires_at: i % 5 === 0 ? 5_000_000 + i : null,
  };
});

/** Returns the stream of the token at this position. */
function streamOf(seq: number): string {
  return `token-${createHash('sha256').update(String(seq)).digest('hex')}`;
}

let dir: string;
let reader: SqliteDatabase[] = [];
let connections: SearchConnections;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'strongroom-search-rows-'));
  const writer = openDatabase(join(dir, 'vault.db'), 'vault.db', 'writer');
  writer.exec(vaultSchema);
  const insertRow = writer.prepare(
    `INSERT INTO token_rows_1 (stream, tenant, revision, type, life, mac, seq, created_at, modified_at, expires_at)
     VALUES (?, ?, 0, 'token', '[0,0,"a","k"]', zeroblob(32), ?, ?, ?, ?)`,
  );
  const insertChange = writer.prepare('INSERT INTO index_changes_1 (number, seq, added) VALUES (?, ?, ?)');
  const index = createIndexKeeper(writer, 1, { mergedAtOnce: 4_096, runsOfLevel: 8, entriesOfSegment: 2_880 });
  let postings = 0;
  writer.exec('BEGIN');
  for (const { seq, tenant, terms, created_at, modified_at, expires_at } of rows) {
    insertRow.run(packStream(streamOf(seq)), tenant, seq, created_at, modified_at, expires_at);
    postings += terms.size;
    insertChange.run(postings, seq, changeOf(Buffer.from([...terms].join(''), 'hex'), seq));
    // At this point, most of the index is in runs on two levels. The newest changes are not in a run yet.
    if (seq === 12_000 * 3) while (index.step(0));
  }
  while (index.step(0));
  writer.exec('COMMIT');
  expect(writer.prepare('SELECT DISTINCT level FROM index_runs_1 ORDER BY level').pluck().all()).toEqual([0, 1]);
  expect(writer.prepare('SELECT count(*) FROM index_changes_1').pluck().get()).toBeGreaterThan(100);
  writer.close();
  connections = createSearchConnections(() => {
    const opened = openDatabase(join(dir, 'vault.db'), 'vault.db', 'reader');
    reader.push(opened);
    return opened;
  });
});

afterAll(() => {
  for (const opened of reader) opened.close();
  reader = [];
  rmSync(dir, { recursive: true, force: true });
});

function matches(node: PlanNode, row: Row): boolean {
  switch (node.kind) {
    case 'term':
      return row.terms.has(node.term);
    case 'and':
      return node.of.every((child) => matches(child, row));
    case 'or':
      return node.of.some((child) => matches(child, row));
    case 'not':
      return !matches(node.of, row);
    case 'date': {
      const at = row[node.column];
      return at !== null && (node.from === null || at >= node.from) && (node.to === null || at < node.to);
    }
  }
}

const instant = fc.option(
  fc.oneof(fc.integer({ min: 1_000_000, max: 1_130_000 }), fc.integer({ min: 2_000_000, max: 2_013_000 })),
);
const names = ['all', 'every-2', 'every-3', 'every-7', 'every-50', 'every-900', 'row-44', 'row-45', 'nowhere'];

function planNode(tenant: string): fc.Arbitrary<PlanNode> {
  const { tree } = fc.letrec<{ tree: PlanNode }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom(...names).map((name): PlanNode => ({ kind: 'term', term: term(tenant, name) })),
      fc.record({
        kind: fc.constant('date' as const),
        column: fc.constantFrom('created_at' as const, 'modified_at' as const),
        from: instant,
        to: instant,
      }),
      fc.record({ kind: fc.constant('not' as const), of: tie('tree') }),
      fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), of: fc.array(tie('tree'), { maxLength: 4 }) }),
    ),
  }));
  return tree;
}

const search = fc.constantFrom(...tenants).chain((tenantId) =>
  fc.record({
    tenantId: fc.constant(tenantId),
    where: planNode(tenantId),
    // No rows are due at the first of these times, a few at the second, and many at the third.
    now: fc.constantFrom(0, 5_001_000, 6_000_000),
    offset: fc.oneof(fc.constant(0), fc.nat(rowCount)),
    limit: fc.integer({ min: 1, max: 100 }),
  }),
);

test('every plan returns exactly the rows and the total that a full scan gives', async () => {
  await fc.assert(
    fc.asyncProperty(search, async ({ tenantId, where, now, offset, limit }) => {
      const plan = { tenantId, generation: 1, all: term(tenantId, 'all'), where };
      const page = await searchRows(connections, plan, { now, offset, limit });
      const found = rows
        .filter((row) => row.tenant === tenantId && !(row.expires_at !== null && row.expires_at <= now))
        .filter((row) => matches(where, row))
        .map(({ seq }) => streamOf(seq))
        .reverse();
      expect(page.total).toBe(found.length);
      expect(page.rows.map(({ stream }) => stream)).toEqual(found.slice(offset, offset + limit));
    }),
    { numRuns: 400 },
  );
});

test('many concurrent searches, long and short, share the connections and get their own results', async () => {
  const everySecond: PlanNode = { kind: 'not', of: { kind: 'not', of: { kind: 'term', term: term('t1', 'every-2') } } };
  const slow: PlanNode = {
    kind: 'or',
    of: [everySecond, { kind: 'date', column: 'modified_at', from: null, to: null }],
  };
  const quick: PlanNode = { kind: 'term', term: term('t1', 'row-45') };
  const plans = Array.from({ length: 24 }, (_, i) => (i % 3 === 0 ? quick : slow));
  const answers = await Promise.all(
    plans.map((where) =>
      searchRows(
        connections,
        { tenantId: 't1', generation: 1, all: term('t1', 'all'), where },
        { now: 0, offset: 0, limit: 1 },
      ),
    ),
  );
  const expected = plans.map((where) => rows.filter((row) => row.tenant === 't1' && matches(where, row)).length);
  expect(answers.map(({ total }) => total)).toEqual(expected);
  expect(reader.length).toBeLessThanOrEqual(4);
});

/** Returns a plan with this many conditions. Each condition matches every token except one. */
function conditions(count: number): PlanNode {
  const condition: PlanNode = { kind: 'not', of: { kind: 'term', term: term('t1', 'row-45') } };
  return { kind: 'and', of: Array.from({ length: count }, () => condition) };
}

function searchFor(tenantId: string, where: PlanNode) {
  const plan = { tenantId, generation: 1, all: term(tenantId, 'all'), where };
  return searchRows(connections, plan, { now: 0, offset: 0, limit: 1 });
}

test('a search with many conditions lets other work run between them', async () => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await searchFor('t1', conditions(200));
  isDone = true;
  // If other work ran only after each thousand tokens, there would be about a dozen turns.
  expect(turns).toBeGreaterThan(24);
});

test('long searches of one tenant leave a connection to the other tenants', async () => {
  const done: string[] = [];
  const found = (tenantId: string, where: PlanNode) => searchFor(tenantId, where).then(() => done.push(tenantId));
  await Promise.all([
    ...Array.from({ length: 4 }, () => found('t1', conditions(32))),
    found('t2', { kind: 'term', term: term('t2', 'row-44') }),
  ]);
  expect(done).toEqual(['t2', ...Array.from({ length: 4 }, () => 't1')]);
});
