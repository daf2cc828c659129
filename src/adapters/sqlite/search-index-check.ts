import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { counted } from '../../domain/text.js';
import type { SearchIndexCheck } from '../../ports/search-index-check.js';
import type { FoundProblem } from '../../ports/store-problem.js';
import { databaseError } from './database/database-error.js';
import type { SqliteDatabase } from './database/open-database.js';
import { pagesAfter } from './database/pages.js';
import { ofBothSlots, rowTables, type Slot } from './database/rows-schema.js';
import {
  blocksOfSegment,
  checked,
  compareAt,
  entriesOf,
  entriesOfBlock,
  entryBytes,
  fenceAt,
  IndexDamaged,
  isUsed,
  mayHave,
  seqAt,
  termBytes,
} from './search-index/entries.js';
import {
  blockName,
  expectSuccession,
  type IndexStatements,
  indexStatements,
  type RunRow,
  type SegmentRow,
} from './search-index/index-statements.js';

/** The number of rows or changes read in one query. Reading this many occupies the thread for a few milliseconds. */
const readAtOnce = 200;

/** `terms` is null if the row is not in the index. `type` is null if the row does not belong to a live token. */
type IndexedRow = {
  readonly row: number;
  readonly tenant: string;
  readonly type: string | null;
  readonly seq: number;
  readonly terms: Buffer | null;
};
type Count = { readonly tenant: string; readonly type: string; readonly count: number };

/** Returns the problem that stored counts of these tenants differ from the rows. A rebuild counts the rows again. */
function damagedCounts(tenants: readonly string[]): FoundProblem {
  const more = tenants.length > 1 ? ` and ${counted(tenants.length - 1, 'other tenant')}` : '';
  return {
    check: 'token counts',
    says: `the counts of tokens in vault.db do not match the rows of tenant ${tenants[0]}${more}`,
    do: 'Find out who can write to vault.db, and run: strongroom projections rebuild tokens',
  };
}

/**
 * Implements `SearchIndexCheck` on `vault.db`. Compares the stored counts of tokens with the rows. Verifies the
 * checksum of each part of the index, checks that the parts fit together, and checks that the index contains exactly
 * the postings of the token rows. The last check also finds damage in columns that have no checksum.
 */
export function sqliteSearchIndexCheck(open: () => SqliteDatabase): SearchIndexCheck {
  let prepared: ReturnType<typeof prepare> | null = null;
  let running: Promise<readonly FoundProblem[]> | null = null;

  async function run(): Promise<readonly FoundProblem[]> {
    try {
      prepared ??= prepare(open());
      const { database, begin, commit, used, of } = prepared;
      begin.run();
      try {
        const found: FoundProblem[] = [];
        for (const slot of used.all() as Slot[]) found.push(...(await checkSlot(of[slot])));
        return found;
      } finally {
        // SQLite ends the transaction itself if the disk fails.
        if (database.inTransaction) commit.run();
      }
    } catch (error) {
      throw databaseError(error, 'vault.db');
    }
  }

  return {
    run() {
      running ??= run().finally(() => {
        running = null;
      });
      return running;
    },
  };
}

function prepare(database: SqliteDatabase) {
  return {
    database,
    begin: database.prepare('BEGIN'),
    commit: database.prepare('COMMIT'),
    // Skips a generation that is being emptied. Some postings are already missing from its index.
    used: database.prepare(`SELECT slot FROM generations WHERE state IN ('read', 'building')`).pluck(),
    of: ofBothSlots((slot) => statementsOf(database, slot)),
  };
}

function statementsOf(database: SqliteDatabase, slot: Slot) {
  const { rows, tokenCounts } = rowTables(slot);
  return {
    index: indexStatements(database, slot),
    rowsAfter: database.prepare(
      `SELECT row, tenant, iif(removed_at IS NULL, type, NULL) AS type, seq, iif(seq IS NULL, NULL, terms) AS terms
       FROM ${rows} WHERE row > ? ORDER BY row LIMIT ? + 0`,
    ),
    counts: database.prepare(`SELECT tenant, type, count FROM ${tokenCounts} WHERE count <> 0`),
  };
}

/** Checks the index and the counts of one generation. A damaged index does not hide wrong counts. */
async function checkSlot({
  index,
  rowsAfter,
  counts,
}: ReturnType<typeof statementsOf>): Promise<readonly FoundProblem[]> {
  const postings = createBalance();
  let damage: IndexDamaged | null = null;
  try {
    await noteIndex(index, postings);
  } catch (error) {
    if (!(error instanceof IndexDamaged)) throw error;
    damage = error;
  }
  /** What is left of the stored counts after each live row was subtracted, by tenant and type. */
  const left = new Map<string, number>();
  const note = (tenant: string, type: string, count: number) =>
    void left.set(`${tenant} ${type}`, (left.get(`${tenant} ${type}`) ?? 0) + count);
  for (const { tenant, type, count } of counts.all() as Count[]) note(tenant, type, count);
  const readAfter = (row: number) => rowsAfter.all(row, readAtOnce) as IndexedRow[];
  for await (const rows of pagesAfter(0, readAfter, ({ row }) => row)) {
    for (const { tenant, type, seq, terms } of rows) {
      if (terms !== null) postings.note(Buffer.concat(entriesOf(terms, seq)), -1);
      if (type !== null) note(tenant, type, -1);
    }
  }
  if (damage === null && !postings.isEven()) damage = new IndexDamaged('it does not match the token rows');
  const wrong = [...left].flatMap(([name, count]) => (count === 0 ? [] : [name.slice(0, name.indexOf(' '))]));
  const ofIndex = damage?.found ?? null;
  return [...(ofIndex === null ? [] : [ofIndex]), ...(wrong.length === 0 ? [] : [damagedCounts([...new Set(wrong)])])];
}

/** Adds all postings of the index. Throws IndexDamaged if a part of it is damaged, or the parts do not fit together. */
async function noteIndex(index: IndexStatements, postings: ReturnType<typeof createBalance>): Promise<void> {
  const { merged, erased } = index.state();
  if (merged < erased) throw new IndexDamaged('the numbers of its newest changes');
  for (const run of index.runs()) {
    let last: Buffer | null = null;
    for (const segment of index.segmentsAfter(run.run, -1)) {
      for (const entries of blocksOf(index, run, segment)) {
        if (last !== null && compareAt(entries, 0, last) < 0) throw new IndexDamaged(`the order of run ${run.run}`);
        last = entries.subarray(entries.length - entryBytes);
        if (run.state === 'read') postings.note(entries, 1);
      }
      await nextTurn();
    }
  }
  let last = erased;
  const changesAfter = (number: number) => index.changesAfter(number, readAtOnce);
  for await (const changes of pagesAfter(erased, changesAfter, ({ number }) => number)) {
    expectSuccession(changes, last);
    for (const { number, seq, added, removed } of changes) {
      if (number > merged) postings.note(Buffer.concat(entriesOf(added, seq)), 1);
      postings.note(Buffer.concat(entriesOf(removed, seq)), -1);
    }
    last = changes.at(-1)?.number ?? last;
  }
}

/**
 * Returns the used entries in each block of a segment. Throws IndexDamaged if the parts of the segment do not fit
 * together.
 */
function blocksOf(
  index: IndexStatements,
  { seqMin, seqMax }: RunRow,
  { segment, fences: stored }: SegmentRow,
): readonly Buffer[] {
  const fences = checked(stored, `the fences of segment ${segment}`);
  const filter = index.filterOf(segment);
  const blocks: Buffer[] = [];
  for (let block = 0; block < blocksOfSegment; block += 1) {
    const { count, first } = fenceAt(fences, block);
    if (count === 0) continue;
    const id = segment * blocksOfSegment + block;
    const entries = index.block(id);
    const isEnd = count === entriesOfBlock || (count < entriesOfBlock && !isUsed(entries, count));
    if (!isEnd || compareAt(entries, 0, first) !== 0) throw new IndexDamaged(blockName(id));
    for (let at = 0; at < count; at += 1) {
      const isSorted = at === 0 || compareAt(entries, at - 1, entries, at) <= 0;
      const isOfRun = seqAt(entries, at) >= seqMin && seqAt(entries, at) <= seqMax;
      if (!isSorted || !isOfRun) throw new IndexDamaged(blockName(id));
      if (!mayHave(filter, entries.subarray(at * entryBytes, at * entryBytes + termBytes)))
        throw new IndexDamaged(`the filter of segment ${segment}`);
    }
    blocks.push(entries.subarray(0, count * entryBytes));
  }
  return blocks;
}

/** The sums are computed modulo this number, so that they stay exact integers. */
const sumMax = 2 ** 48;

/**
 * Compares two collections of postings without storing them. The postings can arrive in any order. Only the number of
 * postings and the sum of their hashes are compared.
 */
function createBalance() {
  let count = 0;
  let sum = 0;
  return {
    note(entries: Buffer, sign: 1 | -1): void {
      for (let at = 0; at < entries.length; at += entryBytes) {
        count += sign;
        sum = (sum + sign * crc32(entries.subarray(at, at + entryBytes))) % sumMax;
      }
    },
    isEven: (): boolean => count === 0 && sum === 0,
  };
}
