// Tests whether lunr could serve as the exact index for searches. Builds a lunr index and SQLite postings from the same
// tokens, does the same work with both, and prints a Markdown table (docs/adr/0015).
//
//   node bench/lunr-as-exact-index.mjs [tokens, default 20000]
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Database from 'better-sqlite3';
import lunr from 'lunr';

const size = Number(process.argv[2] ?? 20_000);
if (!Number.isSafeInteger(size) || size < 100) {
  process.stderr.write('usage: node bench/lunr-as-exact-index.mjs [tokens, at least 100]\n');
  process.exit(2);
}
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

const containers = ['/pci/high/', '/pii/high/', '/bank/low/'];
const commonTerm = 'type:card';
const rareId = `id:tok-${Math.floor(size / 2)}`;

/**
 * Returns a token's terms in the vault's format. Each token has 11 terms, and half of the tokens share one common term.
 */
function termsOf(seq) {
  const container = containers[seq % containers.length];
  return [
    'all',
    `id:tok-${seq}`,
    seq % 2 === 0 ? commonTerm : 'type:token',
    `fingerprint:${createHash('sha256').update(String(seq)).digest('base64url')}`,
    `created_by:app-${seq % 5}`,
    `container:${container}`,
    `within:${container}`,
    `within:${container.split('/').slice(0, 2).join('/')}/`,
    `metadata.customer:c-${seq % Math.ceil(size / 4)}`,
    `metadata.env:${seq % 10 === 0 ? 'test' : 'live'}`,
    `data:${1_000_000_000 + seq}`,
  ];
}

/** Builds the index in the way that suits lunr best: one field, whole terms as tokens, and no pipeline. */
function buildLunr(without = -1) {
  const builder = new lunr.Builder();
  builder.ref('seq');
  builder.field('terms');
  builder.tokenizer = (terms) => terms.map((term) => new lunr.Token(term, {}));
  for (let seq = 0; seq < size; seq += 1) if (seq !== without) builder.add({ seq: String(seq), terms: termsOf(seq) });
  return builder.build();
}

const findLunr = (index, term) => index.query((query) => query.term(term, { usePipeline: false }));

const hash = (term) => createHash('sha256').update(term).digest().subarray(0, 16);

/** Builds the same tables as the vault, and commits after every 1,000 tokens. */
function buildSqlite(file) {
  const database = new Database(file);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'secure_delete = ON']) database.pragma(pragma);
  database.exec(`
    CREATE TABLE postings (term BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (term, seq)) STRICT, WITHOUT ROWID;
    CREATE TABLE term_counts (term BLOB PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;`);
  const add = database.prepare('INSERT INTO postings VALUES (?, ?)');
  const count = database.prepare(
    'INSERT INTO term_counts VALUES (?, 1) ON CONFLICT (term) DO UPDATE SET count = count + 1',
  );
  for (let from = 0; from < size; from += 1_000) {
    database.exec('BEGIN');
    for (let seq = from; seq < Math.min(from + 1_000, size); seq += 1) {
      for (const term of termsOf(seq).map(hash)) {
        add.run(term, seq);
        count.run(term);
      }
    }
    database.exec('COMMIT');
  }
  return database;
}

/** Calls `run` `times` times, and returns the median duration in ms. */
function timed(run, times = 1) {
  const all = [];
  for (let i = 0; i < times; i += 1) {
    const from = performance.now();
    run();
    all.push(performance.now() - from);
  }
  return all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
}

/**
 * Runs a long task once, and returns its duration and its processor time. On a shared machine, the processor time is
 * more reliable than the duration.
 */
function worked(run) {
  const before = process.cpuUsage();
  const ms = timed(run);
  const { user, system } = process.cpuUsage(before);
  return `${shown(ms)} (processor ${shown((user + system) / 1_000)})`;
}

function usedMib(make) {
  collectGarbage();
  const before = process.memoryUsage();
  const made = make();
  collectGarbage();
  const after = process.memoryUsage();
  return { made, mib: (after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20 };
}

const shown = (ms) => {
  if (ms < 1) return `${(ms * 1_000).toFixed(0)} µs`;
  return ms < 1_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1_000).toFixed(1)} s`;
};

const folder = mkdtempSync(join(tmpdir(), 'lunr-as-exact-index-'));
try {
  const file = join(folder, 'postings.db');
  let lunrBuilding = '';
  const { made: index, mib: lunrMib } = usedMib(() => {
    let built;
    lunrBuilding = worked(() => {
      built = buildLunr();
    });
    return built;
  });
  let sqliteBuilding = '';
  const { made: database, mib: sqliteMib } = usedMib(() => {
    let built;
    sqliteBuilding = worked(() => {
      built = buildSqlite(file);
    });
    return built;
  });
  database.pragma('wal_checkpoint(TRUNCATE)');

  const postings = database.prepare('SELECT seq FROM postings WHERE term = ?').pluck();
  const page = database.prepare('SELECT seq FROM postings WHERE term = ? ORDER BY seq DESC LIMIT 20').pluck();
  const kept = database.prepare('SELECT count FROM term_counts WHERE term = ?').pluck();
  const remove = database.prepare('DELETE FROM postings WHERE term = ? AND seq = ?');
  const uncount = database.prepare('UPDATE term_counts SET count = count - 1 WHERE term = ?');

  const expected = Math.ceil(size / 2);
  const found = [findLunr(index, commonTerm).length, kept.get(hash(commonTerm))];
  if (found.some((count) => count !== expected)) throw new Error(`a common term finds ${found}, not ${expected}`);

  const lunrExact = timed(() => findLunr(index, rareId), 200);
  const sqliteExact = timed(() => postings.all(hash(rareId)), 200);
  const lunrCommon = timed(() => findLunr(index, commonTerm), 5);
  const sqliteCommon = timed(() => [kept.get(hash(commonTerm)), page.all(hash(commonTerm))], 200);
  const star = 'id:tok-1*2';
  const lunrStar = findLunr(index, star).length;
  const sqliteStar = postings.all(hash(star)).length;
  const lunrDelete = worked(() => buildLunr(7));
  const sqliteDelete = timed(() => {
    database.exec('BEGIN');
    for (const term of termsOf(7).map(hash)) {
      remove.run(term, 7);
      uncount.run(term);
    }
    database.exec('COMMIT');
  });
  database.close();

  const disk = statSync(file).size / 2 ** 20;
  const rows = [
    ['Building', lunrBuilding, sqliteBuilding],
    [
      'Memory it keeps',
      `${lunrMib.toFixed(0)} MiB`,
      `${Math.max(0, sqliteMib).toFixed(0)} MiB (${disk.toFixed(0)} MiB on disk)`,
    ],
    ['Deleting one token', `a new index: ${lunrDelete}`, shown(sqliteDelete)],
    ['One exact term', shown(lunrExact), shown(sqliteExact)],
    ['A term of half of all: total and page', shown(lunrCommon), shown(sqliteCommon)],
    ['Found by `tok-1*2` as an exact id', String(lunrStar), String(sqliteStar)],
  ];
  process.stdout.write(
    `${size} tokens, 11 terms each; Node.js ${process.version}, lunr ${lunr.version}, ${cpus().length} cores\n\n` +
      `| | lunr | SQLite postings |\n|---|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
