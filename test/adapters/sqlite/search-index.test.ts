import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createGroupCommit } from '#src/adapters/sqlite/database/group-commit.js';
import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { vaultSchema } from '#src/adapters/sqlite/database/vault-schema.js';
import { changeOf, entriesOfSegment } from '#src/adapters/sqlite/search-index/entries.js';
import { createIndexKeeper } from '#src/adapters/sqlite/search-index/index-keeper.js';
import { indexStatements } from '#src/adapters/sqlite/search-index/index-statements.js';
import { createIndexViews, type IndexView } from '#src/adapters/sqlite/search-index/index-view.js';

import { createIndexMaintenance } from '#src/adapters/sqlite/writer/index-maintenance.js';
import { storedPostings } from '../../support/stored-postings.js';

function termOf(name: string): Buffer {
  return createHash('sha256').update(name).digest().subarray(0, 16);
}

/** Terms that many tokens share. In addition, each token has one term that is unique to it. */
const common = ['all', 'half', 'third', 'some', 'few'];

/** Limits so small that a few thousand postings fill several levels and several segments. */
const sizes = { mergedAtOnce: 300, runsOfLevel: 3, entriesOfSegment: 700 };

/** Opens a vault's index with one connection for writing and two connections for reading. */
function openIndex(dataDir: string, given = sizes) {
  const writer = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'writer');
  writer.exec(vaultSchema);
  // This test needs no durability, and syncing after each of its thousands of commits would slow it down.
  writer.exec('PRAGMA synchronous = OFF');
  const keeper = createIndexKeeper(writer, 1, given);
  const insert = writer.prepare('INSERT INTO index_changes_1 (number, seq, added, removed) VALUES (?, ?, ?, ?)');
  const count = writer.prepare('SELECT count(*) FROM index_runs_1').pluck();
  const views = createIndexViews();
  const readers = [0, 1].map(() => {
    const database = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'reader');
    return { database, statements: indexStatements(database, 1) };
  });
  /** The terms of each token, keyed by its `seq`. */
  const tokens = new Map<number, ReadonlySet<string>>();
  let seq = 0;

  function packed(names: readonly string[]): Buffer {
    return Buffer.concat(names.map(termOf));
  }

  return {
    writer,
    keeper,
    tokens,
    runs: () => Number(count.get()),
    nextSeq(): number {
      seq += 3;
      return seq;
    },
    /** Changes a token's terms the way that a commit does. */
    set(token: number, terms: ReadonlySet<string>): void {
      const before = tokens.get(token) ?? new Set<string>();
      const added = [...terms].filter((name) => !before.has(name));
      const removed = [...before].filter((name) => !terms.has(name));
      if (terms.size === 0) tokens.delete(token);
      else tokens.set(token, terms);
      if (added.length + removed.length === 0) return;
      insert.run(
        keeper.last() + added.length + removed.length,
        token,
        changeOf(packed(added), token),
        changeOf(packed(removed), token),
      );
    },
    commit(work: () => void): void {
      writer.exec('BEGIN IMMEDIATE');
      work();
      writer.exec('COMMIT');
    },
    /** Runs up to `steps` steps in one transaction. Returns true if more work remains. */
    step(eraseUpTo: number, steps = 1): boolean {
      writer.exec('BEGIN IMMEDIATE');
      let isMore = true;
      for (let i = 0; i < steps && isMore; i += 1) isMore = keeper.step(eraseUpTo);
      writer.exec('COMMIT');
      return isMore;
    },
    /** Begins a read transaction on the connection with this number. */
    read(connection: number): { readonly view: IndexView; end(): void } {
      const reader = readers[connection];
      if (reader === undefined) throw new Error('there are two connections');
      reader.database.exec('BEGIN');
      return { view: views.viewOf(reader.statements), end: () => void reader.database.exec('COMMIT') };
    },
    close(): void {
      for (const { database } of readers) database.close();
      writer.close();
    },
  };
}

type Index = ReturnType<typeof openIndex>;

/** Returns the `seq` of each token that has the term, newest first. */
function having(tokens: Index['tokens'], name: string): number[] {
  return [...tokens].flatMap(([seq, terms]) => (terms.has(name) ? [seq] : [])).sort((a, b) => b - a);
}

/** Checks that a view returns the same results for a term as a search through the plain list of tokens. */
function expectSame(view: IndexView, tokens: Index['tokens'], name: string, offset: number, choice: number): void {
  const expected = having(tokens, name);
  const term = termOf(name);
  expect(view.count(term), `count of ${name}`).toBe(expected.length);
  for (const at of [0, offset]) {
    const hidden = expected.filter((_, i) => i % 5 === choice % 5);
    const shown = expected.filter((_, i) => i % 5 !== choice % 5);
    expect(view.page(term, { offset: at, limit: 7 }, hidden), `page of ${name}`).toEqual(shown.slice(at, at + 7));
  }
  const before = expected[choice % Math.max(expected.length, 1)] ?? 10;
  const walked: number[] = [];
  for (const cursor = view.postings(term, before); cursor.head >= 0; cursor.advance()) walked.push(cursor.head);
  expect(walked.join(), `walk of ${name}`).toBe(expected.filter((seq) => seq < before).join());
  const asked = Array.from({ length: 60 }, (_, i) => (choice + i * (1 + (choice % 7))) * 3).sort((a, b) => b - a);
  const among = new Set(expected);
  expect(view.among(term, asked), `among ${name}`).toEqual(asked.filter((seq) => among.has(seq)));
}

type Action =
  | { readonly do: 'create'; readonly tokens: number; readonly terms: number }
  | { readonly do: 'patch' | 'toggle' | 'remove'; readonly every: number; readonly terms: number }
  | { readonly do: 'flip'; readonly tokens: number; readonly times: number; readonly terms: number }
  | { readonly do: 'step'; readonly steps: number; readonly erase: boolean }
  | { readonly do: 'check'; readonly name: string; readonly offset: number; readonly choice: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('create' as const), tokens: fc.integer({ min: 1, max: 150 }), terms: fc.nat(31) }),
  fc.record({
    do: fc.constantFrom('patch' as const, 'toggle' as const, 'remove' as const),
    every: fc.integer({ min: 1, max: 40 }),
    terms: fc.nat(31),
  }),
  fc.record({ do: fc.constant('step' as const), steps: fc.integer({ min: 1, max: 6 }), erase: fc.boolean() }),
  fc.record({
    do: fc.constant('check' as const),
    name: fc.oneof(
      fc.constantFrom(...common),
      fc.nat(900).map((n) => `own-${n * 3}`),
    ),
    offset: fc.nat(1_600),
    choice: fc.nat(2_000),
  }),
);

/** A few tokens whose terms are changed back and forth, often so many times that the copies of a term fill blocks. */
const flip: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('flip' as const),
  tokens: fc.integer({ min: 1, max: 4 }),
  times: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 1_000 })),
  terms: fc.nat(31),
});

function chosen(bits: number): string[] {
  return common.filter((_, i) => i === 0 || (bits >> (i - 1)) & 1);
}

function act(index: Index, each: Action): void {
  switch (each.do) {
    case 'create':
      for (let i = 0; i < each.tokens; i += 1) {
        const seq = index.nextSeq();
        index.set(seq, new Set([...chosen(each.terms + i), `own-${seq}`]));
      }
      return;
    case 'flip':
      for (const seq of [...index.tokens.keys()].slice(each.terms % 5).slice(0, each.tokens)) {
        const terms = index.tokens.get(seq) ?? new Set<string>();
        const other = new Set([...chosen(each.terms), `flipped-${seq}`]);
        for (let i = 0; i < each.times; i += 1) index.set(seq, i % 2 === 0 ? other : terms);
      }
      return;
    case 'step':
    case 'check':
      return;
    default:
      for (const seq of [...index.tokens.keys()].filter((_, i) => i % each.every === 0).slice(0, 60)) {
        const terms = index.tokens.get(seq) ?? new Set<string>();
        if (each.do === 'remove') index.set(seq, new Set());
        else index.set(seq, new Set([...chosen(each.terms), `own-${seq}`]));
        // After a term is removed and added again, two runs can contain the term until the removal is applied.
        if (each.do === 'toggle') index.set(seq, terms);
      }
  }
}

function inDirectory<T>(run: (dataDir: string) => T): T {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-search-index-'));
  try {
    return run(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

test('counts, pages and walks equal those of a plain list, even if postings are merged and erased between the reads', () => {
  let levels = 0;
  fc.assert(
    fc.property(fc.array(action, { minLength: 30, maxLength: 120 }), (actions) =>
      inDirectory((dataDir) => {
        const index = openIndex(dataDir);
        let old: { readonly reading: ReturnType<Index['read']>; readonly tokens: Index['tokens'] } | null = null;
        for (const [i, each] of actions.entries()) {
          if (each.do === 'step') index.step(each.erase ? index.keeper.last() : 0, each.steps);
          else index.commit(() => act(index, each));
          if (each.do !== 'check') continue;
          const reading = index.read(0);
          expectSame(reading.view, index.tokens, each.name, each.offset, each.choice);
          reading.end();
          // The second connection continues to read an earlier state while runs are merged and dropped.
          if (old !== null) {
            expectSame(old.reading.view, old.tokens, each.name, each.offset, each.choice);
            if (i % 3 === 0) {
              old.reading.end();
              old = null;
            }
          } else old = { reading: index.read(1), tokens: new Map(index.tokens) };
        }
        old?.reading.end();
        while (index.step(index.keeper.last()));
        const reading = index.read(0);
        for (const name of common) expectSame(reading.view, index.tokens, name, 1_200, actions.length);
        reading.end();
        expect(index.keeper.isClean()).toBe(true);
        levels = Math.max(levels, Number(index.writer.prepare('SELECT max(level) FROM index_runs_1').pluck().get()));
        index.close();
      }),
    ),
    { numRuns: 15 },
  );
  expect(levels, 'the runs of the largest index').toBeGreaterThan(1);
}, 180_000);

test('combining runs loses no term, even if copies of its entry continue beyond the end of a segment', () => {
  inDirectory((dataDir) => {
    const index = openIndex(dataDir);
    fill(index, 128);
    const seq = index.nextSeq();
    const [some, others] = ['some', 'other'].map((kind) => Array.from({ length: 20 }, (_, i) => `${kind}-${i}`));
    // The copies of each term take up a twelfth of a segment.
    for (let i = 0; i < 120; i += 1) index.commit(() => index.set(seq, new Set(i % 2 === 0 ? some : others)));
    fill(index, 512);
    while (index.step(index.keeper.last()));
    const reading = index.read(0);
    for (const name of [...(some ?? []), ...(others ?? [])]) expectSame(reading.view, index.tokens, name, 0, 1);
    reading.end();
    index.close();
  });
});

test('a token whose terms are changed back and forth up to a thousand times keeps exactly its last terms', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(
        sizes,
        { ...sizes, mergedAtOnce: 2_048 },
        { mergedAtOnce: 2_048, runsOfLevel: 8, entriesOfSegment },
      ),
      fc.array(fc.oneof(action, flip), { minLength: 30, maxLength: 60 }),
      (given, actions) =>
        inDirectory((dataDir) => {
          const index = openIndex(dataDir, given);
          for (const each of actions) {
            if (each.do === 'step') index.step(each.erase ? index.keeper.last() : 0, each.steps);
            else index.commit(() => act(index, each));
            const reading = index.read(0);
            if (each.do === 'check') expectSame(reading.view, index.tokens, each.name, each.offset, each.choice);
            else if (each.do !== 'create') {
              const seqs = [...index.tokens.keys()].sort((a, b) => b - a);
              // Only the oldest tokens are flipped.
              const own = seqs.slice(-8).flatMap((seq) => [`own-${seq}`, `flipped-${seq}`]);
              for (const name of [...common, ...own])
                expect(reading.view.among(termOf(name), seqs), `among ${name}`).toEqual(having(index.tokens, name));
            }
            reading.end();
          }
          while (index.step(index.keeper.last()));
          expect(index.keeper.isClean()).toBe(true);
          const expected = [...index.tokens].flatMap(([seq, terms]) =>
            [...terms].map((name) => `${termOf(name).toString('hex')} ${seq}`),
          );
          const stored = storedPostings(index.writer, 1).map(({ term, seq }) => `${term} ${seq}`);
          expect(stored.sort()).toEqual(expected.sort());
          index.close();
        }),
    ),
    // A failing list of actions is long, and shrinking it would take longer than the test may.
    { numRuns: 15, endOnFailure: true },
  );
}, 180_000);

test('after an index is emptied, searches find only the postings that were added later', () => {
  inDirectory((dataDir) => {
    const index = openIndex(dataDir);
    fill(index, 300);
    // All changes are merged and erased, so emptying the index changes only its runs.
    index.commit(() => index.set(3, new Set()));
    while (index.step(index.keeper.last()));
    const before = index.read(0);
    expectSame(before.view, index.tokens, 'all', 0, 1);
    before.end();
    index.commit(() => {
      while (!index.keeper.empty());
    });
    index.tokens.clear();
    index.commit(() => {
      for (let i = 0; i < 20; i += 1) index.set(index.nextSeq(), new Set(['all', 'few']));
    });
    const after = index.read(0);
    for (const name of ['all', 'few', 'half', 'own-3-0']) expectSame(after.view, index.tokens, name, 0, 1);
    after.end();
    index.close();
  });
});

/** Creates tokens in groups of 64, as commits do, and runs all pending steps after each group. */
function fill(index: Index, tokens: number): void {
  for (let made = 0; made < tokens; made += 64) {
    index.commit(() => {
      for (let i = 0; i < 64; i += 1) {
        const seq = index.nextSeq();
        index.set(seq, new Set([...chosen(i), ...Array.from({ length: 6 }, (_, own) => `own-${seq}-${own}`)]));
      }
    });
    while (index.step(0));
  }
}

/** Runs `work`, and returns how many pages it added to the write-ahead log. */
function pagesOf(dataDir: string, { writer }: Index, work: () => void): number {
  writer.exec('PRAGMA wal_autocheckpoint = 0');
  writer.pragma('wal_checkpoint(TRUNCATE)');
  work();
  return Math.floor((statSync(join(dataDir, 'vault.db-wal')).size - 32) / (4_096 + 24));
}

test('a create writes fewer than two pages to the index, including merges, and hardly more with twenty times as many tokens', () => {
  inDirectory((dataDir) => {
    const index = openIndex(dataDir, { mergedAtOnce: 600, runsOfLevel: 8, entriesOfSegment: 700 });
    const pages: number[] = [];
    for (const size of [1_000, 20_000]) {
      fill(index, size - index.tokens.size);
      pages.push(pagesOf(dataDir, index, () => fill(index, 2_048)) / 2_048);
    }
    const [few = 0, many = 0] = pages;
    // Creating a token adds nine postings. If each posting went to a random place, this would write about nine pages.
    // With runs, each additional level adds only a fraction of a page.
    expect(many, `pages of a create: ${pages.join(', ')}`).toBeLessThan(2);
    expect(many - few, `pages of a create: ${pages.join(', ')}`).toBeLessThan(0.8);
    index.close();
  });
}, 180_000);

test('after removed terms are erased and the write-ahead log is truncated, no file contains them', () => {
  inDirectory((dataDir) => {
    const index = openIndex(dataDir);
    fill(index, 1_500);
    // The postings are removed while a merge is in progress, so its unfinished run also contains removed postings.
    fill(index, 128);
    const removed = [...index.tokens].filter((_, i) => i % 7 === 0);
    const terms = removed.flatMap(([, names]) => [...names].filter((name) => name.startsWith('own'))).map(termOf);
    const isInFiles = (term: Buffer) =>
      ['vault.db', 'vault.db-wal'].some((file) => readFileSync(join(dataDir, file)).includes(term.subarray(4)));
    index.writer.pragma('wal_checkpoint(TRUNCATE)');
    expect(terms.filter((term) => !isInFiles(term))).toEqual([]);
    index.commit(() => {
      for (const [seq] of removed) index.set(seq, new Set());
    });
    expect(index.keeper.isClean()).toBe(false);
    const upTo = index.keeper.last();
    index.commit(() => index.set(index.nextSeq(), new Set(['all'])));
    for (let steps = 0; !index.keeper.isErased(upTo); steps += 1) {
      index.step(upTo);
      const reading = index.read(0);
      expect(reading.view.count(termOf('all')), `after ${steps} steps`).toBe(index.tokens.size);
      reading.end();
    }
    index.writer.pragma('wal_checkpoint(TRUNCATE)');
    expect(terms.filter(isInFiles)).toEqual([]);
    index.close();
  });
}, 180_000);

type Damage = readonly [part: string, sql: string];
const damages: readonly Damage[] = [
  ['a block with other bytes', `UPDATE index_blocks_1 SET entries = randomblob(3964)`],
  ['a short block', `UPDATE index_blocks_1 SET entries = substr(entries, 1, 100)`],
  ['a missing block', 'DELETE FROM index_blocks_1'],
  [
    'a block in place of another',
    'UPDATE index_blocks_1 SET entries = (SELECT entries FROM index_blocks_1 ORDER BY block LIMIT 1)',
  ],
  ['damaged fences', 'UPDATE index_segments_1 SET fences = randomblob(length(fences))'],
  ['a change with other terms', 'UPDATE index_changes_1 SET added = randomblob(length(added)) WHERE added IS NOT NULL'],
  ['a change of another token', 'UPDATE index_changes_1 SET seq = seq + 1'],
  [
    'a missing change',
    'DELETE FROM index_changes_1 WHERE number = (SELECT max(number) FROM index_changes_1 WHERE added IS NOT NULL)',
  ],
  ['damaged filters', 'UPDATE index_filters_1 SET filter = randomblob(length(filter))'],
];

test.for(damages)(
  '%s makes searches fail with instructions for the repair, but no write fails',
  async ([, sql], { onTestFinished }) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-search-index-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const index = openIndex(dataDir);
    fill(index, 300);
    index.commit(() => index.set(3, new Set()));
    index.writer.exec(sql);
    const search = () => {
      const reading = index.read(0);
      try {
        for (const name of ['all', 'own-6-0', 'own-9-1'])
          reading.view.page(termOf(name), { offset: 0, limit: 500 }, []);
      } finally {
        reading.end();
      }
    };
    expect(search).toThrow(
      /vault\.db is damaged: .*((block \d+|fences|filter) of segment \d+|change \d+( is missing)?)\. Run: strongroom projections rebuild tokens/,
    );
    const broken: unknown[] = [];
    const damages: string[] = [];
    const maintenance = createIndexMaintenance({
      database: index.writer,
      commitGroup: createGroupCommit(index.writer, 'vault.db', vaultSchema),
      onErased: () => undefined,
      onDamaged: (damage) => damages.push(String(damage)),
      onBroken: (error) => broken.push(error),
    });
    maintenance.eraseAll();
    await expect.poll(() => maintenance.erase([0, index.keeper.last()])).toBe(true);
    expect(maintenance.isBehind()).toBe(false);
    expect(broken).toEqual([]);
    expect(damages).toEqual([expect.stringMatching(/^IndexDamaged: .*vault\.db is damaged: /)]);
    maintenance.close();
    index.close();
  },
);

test('while more postings wait to be merged than the limit allows, writes wait for the merges', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-search-index-'));
  const index = openIndex(dataDir);
  const create = (tokens: number) =>
    index.commit(() => {
      for (let i = 0; i < tokens; i += 1) {
        const seq = index.nextSeq();
        index.set(seq, new Set(Array.from({ length: 100 }, (_, own) => `own-${seq}-${own}`)));
      }
    });
  const maintenance = createIndexMaintenance({
    database: index.writer,
    commitGroup: createGroupCommit(index.writer, 'vault.db', vaultSchema),
    onErased: () => undefined,
    onDamaged: (damage) => expect.unreachable(String(damage)),
    onBroken: (error) => {
      throw error;
    },
  });
  create(600);
  maintenance.eraseAll();
  await nextTurn();
  await nextTurn();
  expect(maintenance.isBehind()).toBe(false);
  create(1_500);
  maintenance.lookSoon();
  await vi.waitFor(() => expect(maintenance.isBehind()).toBe(true), { timeout: 30_000, interval: 1 });
  await vi.waitFor(() => expect(maintenance.isBehind()).toBe(false), 30_000);
  expect(index.keeper.last()).toBe(210_000);
  const reading = index.read(0);
  expect(reading.view.count(termOf('own-3-7'))).toBe(1);
  reading.end();
  maintenance.close();
  index.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test('removals that are erased right after their commit also lead to the truncation of the write-ahead log', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-search-index-'));
  const index = openIndex(dataDir);
  let erased = 0;
  const maintenance = createIndexMaintenance({
    database: index.writer,
    commitGroup: createGroupCommit(index.writer, 'vault.db', vaultSchema),
    onDamaged: (damage) => expect.unreachable(String(damage)),
    onErased: () => {
      erased += 1;
    },
    onBroken: (error) => {
      throw error;
    },
  });
  maintenance.eraseAll();
  await expect.poll(() => erased).toBe(1);
  index.commit(() => {
    for (let i = 0; i < 170; i += 1) {
      const seq = index.nextSeq();
      index.set(seq, new Set(Array.from({ length: 100 }, (_, own) => `own-${seq}-${own}`)));
    }
    index.set(3, new Set());
  });
  maintenance.lookSoon();
  await vi.waitFor(() => expect(index.keeper.isClean()).toBe(true), { timeout: 30_000, interval: 1 });
  await expect.poll(() => erased).toBe(2);
  maintenance.close();
  index.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/**
 * A program that continuously creates, changes and removes tokens and merges the index. After the test kills it, the
 * index must match the token rows.
 */
const writing = `
  import { createHash, randomInt } from 'node:crypto';
  import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
  import { changeOf } from '#src/adapters/sqlite/search-index/entries.js';
  import { createIndexKeeper } from '#src/adapters/sqlite/search-index/index-keeper.js';
  const writer = openDatabase(process.argv[1] + '/vault.db', 'vault.db', 'writer');
  const keeper = createIndexKeeper(writer, 1, { mergedAtOnce: 200, runsOfLevel: 3, entriesOfSegment: 700 });
  const termOf = (name) => createHash('sha256').update(name).digest().subarray(0, 16);
  const row = writer.prepare(
    \`INSERT INTO token_rows_1 (stream, tenant, revision, type, life, mac, seq, terms)
     VALUES (?, 't', 0, 'token', '[]', x'', ?, ?)\`,
  );
  const change = writer.prepare('INSERT INTO index_changes_1 (number, seq, added, removed) VALUES (?, ?, ?, ?)');
  const oldest = writer.prepare('SELECT row, seq, terms FROM token_rows_1 ORDER BY row LIMIT 1 OFFSET ?');
  const remove = writer.prepare('DELETE FROM token_rows_1 WHERE row = ?');
  let seq = writer.prepare('SELECT ifnull(max(seq), 0) FROM token_rows_1').pluck().get();
  for (;;) {
    writer.exec('BEGIN IMMEDIATE');
    for (let i = 0; i < 30; i += 1) {
      seq += 1;
      const terms = Buffer.concat(['all', i % 2 === 0 ? 'half' : 'other', 'own-' + seq].map(termOf));
      row.run(createHash('sha256').update('token-' + seq).digest(), seq, terms);
      change.run(keeper.last() + 3, seq, changeOf(terms, seq), null);
    }
    const gone = oldest.get(randomInt(40));
    if (gone !== undefined) {
      // The token's terms are changed back and forth before the token is removed.
      for (let i = randomInt(20); i >= 0; i -= 1) {
        change.run(keeper.last() + 3, gone.seq, null, changeOf(gone.terms, gone.seq));
        if (i > 0) change.run(keeper.last() + 3, gone.seq, changeOf(gone.terms, gone.seq), null);
      }
      if (randomInt(2) === 0) remove.run(gone.row);
      else change.run(keeper.last() + 3, gone.seq, changeOf(gone.terms, gone.seq), null);
    }
    writer.exec('COMMIT');
    for (let more = true, steps = 0; more && steps < 6; steps += 1) {
      writer.exec('BEGIN IMMEDIATE');
      more = keeper.step(steps % 2 === 0 ? keeper.last() : 0);
      writer.exec('COMMIT');
      process.stdout.write('.');
    }
  }
`;

test('a process killed during a merge leaves an index that matches the rows', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-search-index-'));
  openIndex(dataDir).close();
  for (let round = 0; round < 8; round += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', writing, dataDir], { cwd: process.cwd() });
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    child.stderr.pipe(process.stderr);
    await vi.waitFor(() => expect(output.length).toBeGreaterThan(25), { timeout: 30_000, interval: 20 });
    await wait(round * 37);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    const reader = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'reader');
    reader.exec('BEGIN');
    const view = createIndexViews().viewOf(indexStatements(reader, 1));
    const rows = reader.prepare('SELECT seq, terms FROM token_rows_1 ORDER BY seq DESC').all() as {
      readonly seq: number;
      readonly terms: Buffer;
    }[];
    for (const name of ['all', 'half', 'other', `own-${rows[0]?.seq}`, `own-${rows.at(-1)?.seq}`, 'own-1']) {
      const expected = rows.filter(({ terms }) => terms.includes(termOf(name))).map(({ seq }) => seq);
      const found: number[] = [];
      for (const cursor = view.postings(termOf(name), 1e9); cursor.head >= 0; cursor.advance()) found.push(cursor.head);
      expect(found.join(), `${name} in round ${round}`).toBe(expected.join());
      expect(view.count(termOf(name))).toBe(expected.length);
    }
    reader.exec('COMMIT');
    reader.close();
  }
  rmSync(dataDir, { recursive: true, force: true });
}, 180_000);
