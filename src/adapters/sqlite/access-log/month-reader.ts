import type { Statement } from 'better-sqlite3';
import type { AccessBatch, AccessEntry, AccessOutcome, ActorType } from '../../../events/access-log/access-entry.js';
import { hasFieldsOfEntry } from '../../../events/access-log/batch-hash.js';
import type { AccessFilter } from '../../../ports/access-log.js';
import type { Month } from '../../shared/month.js';
import { damagedFile, databaseError } from '../database/database-error.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { expectSchema } from '../database/prepare-file.js';
import { reading } from '../database/reading.js';
import { createEntryCounter } from './count-entries.js';
import { monthFile, newestBatchOf, openMonth } from './month-files.js';
import { accessSchema, sliceOfEntry } from './month-schema.js';

type Batch = { readonly sequence: number; readonly previous: Buffer; readonly hash: Buffer };

type Found = { readonly total: number; readonly rows: readonly EntryRow[] };
type Statements = { readonly count: Statement<unknown[]>; readonly page: Statement<unknown[]> };

export type MonthReader = ReturnType<typeof openMonthReader>;

/** Opens one month's file for queries. This function and the result's methods throw StoreBroken if it is damaged. */
export function openMonthReader(dataDir: string, month: Month) {
  const fileName = monthFile(month);
  const database = openMonth(dataDir, month);
  try {
    return readerOn(database, month);
  } catch (error) {
    database.close();
    throw databaseError(error, fileName);
  }
}

function readerOn(database: SqliteDatabase, month: Month) {
  const fileName = monthFile(month);
  expectSchema(database, fileName, accessSchema);
  const wordId = database.prepare('SELECT id FROM words WHERE text = ?').pluck();
  const batches = database.prepare(
    'SELECT sequence, previous, hash FROM batches WHERE sequence > ? ORDER BY sequence LIMIT ? + 0',
  );
  const oldest = database.prepare('SELECT min(sequence) FROM batches').pluck();
  const newest = newestBatchOf(database, month);
  const counter = createEntryCounter(database);
  const ciphertextOf = database.prepare('SELECT box FROM traces WHERE id = ?').pluck();
  const entriesOf = database.prepare(`SELECT ${entryColumns} FROM entries WHERE batch BETWEEN ? AND ? ORDER BY id`);

  /**
   * Returns the SQL clauses that select the entries of a filter. Returns null if no entry can match, because at least
   * one of the strings in the filter is missing from the file.
   */
  function clausesOf(tenantId: string, filter: AccessFilter): { clauses: string; values: unknown[] } | null {
    const { entityType, entityRef, operation, from, to } = filter;
    const words = { tenant: tenantId, entity_type: entityType, operation };
    const conditions: [sql: string, value: unknown][] = [];
    for (const [column, text] of Object.entries(words)) {
      if (text === null) continue;
      const id = wordId.get(text);
      if (id === undefined) return null;
      conditions.push([`${column} = ?`, id]);
    }
    if (entityRef !== null) conditions.push(['ref = ?', Buffer.from(entityRef, 'hex')]);
    conditions.push(['time >= ?', from]);
    if (to !== null) conditions.push(['time < ?', to]);
    const where = conditions.map(([sql]) => sql).join(' AND ');
    const clauses = entityRef === null ? `FROM entries WHERE ${where}` : `${fromSlices} AND ${where}`;
    return { clauses, values: conditions.map(([, value]) => value) };
  }

  /** The prepared statements, keyed by their clauses. */
  const statements = new Map<string, Statements>();
  function statementsFor(clauses: string): Statements {
    let made = statements.get(clauses);
    if (made === undefined) {
      const order = 'ORDER BY time DESC, id DESC';
      // Finds the ids of the page first, in the index alone. Otherwise, a query by reference would read all matching
      // entries to sort them.
      const ids = `SELECT id ${clauses} ${order} LIMIT ? + 0 OFFSET ?`;
      const page = `SELECT ${entryColumns} FROM entries WHERE id IN (${ids}) ${order}`;
      const count = `SELECT count(*) ${clauses}`;
      made = { count: database.prepare(count).pluck(), page: database.prepare(page) };
      statements.set(clauses, made);
    }
    return made;
  }

  function select(tenantId: string, filter: AccessFilter, offset: number, limit: number): Found {
    const found = clausesOf(tenantId, filter);
    if (found === null) return { total: 0, rows: [] };
    const { clauses, values } = found;
    const { count, page } = statementsFor(clauses);
    const total = Number(count.get(...values));
    const rows = total <= offset || limit === 0 ? [] : page.all(...values, limit, offset);
    return { total, rows: rows as EntryRow[] };
  }

  /** Returns a function that returns the ciphertext of a row. Rows with the same ciphertext share its buffer. */
  function traceReader(): (row: EntryRow) => unknown {
    const ciphertexts = new Map<number | null, unknown>([[null, null]]);
    return ({ trace }) => {
      if (!ciphertexts.has(trace)) ciphertexts.set(trace, ciphertextOf.get(trace) ?? null);
      return ciphertexts.get(trace);
    };
  }

  /**
   * Returns up to `limit` batches after a sequence number, with their entries. If the file has an entry but not its
   * batch, the entry is returned with the batch before it, or with the first batch, so that the hash of that batch no
   * longer matches. Threat: an attacker adds an entry with the number of a missing batch. Queries would return the
   * entry, although no hash covers it. Throws StoreBroken if the file has entries but no batches.
   */
  function batchesAfter(afterSequence: number, limit: number): AccessBatch[] {
    const found = batches.all(afterSequence, limit) as Batch[];
    const last = found.at(-1)?.sequence;
    if (last === undefined && afterSequence > 0) return [];
    const from = afterSequence > 0 ? afterSequence + 1 : Number.NEGATIVE_INFINITY;
    const to = last === undefined || last === newest()?.sequence ? Number.POSITIVE_INFINITY : last;
    const entries = new Map<number, AccessEntry[]>(found.map(({ sequence }) => [sequence, []]));
    const ofNearest = (sequence: number) =>
      entries.get((found.findLast((batch) => batch.sequence < sequence) ?? found[0])?.sequence ?? sequence);
    const traceOf = traceReader();
    for (const row of entriesOf.all(from, to) as EntryRow[]) {
      const ofBatch = entries.get(row.batch) ?? ofNearest(row.batch);
      if (ofBatch === undefined) throw damagedFile(fileName, 'it has entries but no batches');
      ofBatch.push(entryOf(row, traceOf(row), fileName));
    }
    return found.map((batch) => ({ ...batch, entries: entries.get(batch.sequence) ?? [] }));
  }

  function entriesOfPage(tenantId: string, filter: AccessFilter, offset: number, limit: number) {
    const { total, rows } = select(tenantId, filter, offset, limit);
    const traceOf = traceReader();
    return { total, entries: rows.map((row) => shownEntryOf(row, traceOf(row), fileName)) };
  }

  // In one transaction, all reads see the file in the same state.
  const pageAtOnce = database.transaction(entriesOfPage);
  const batchesAtOnce = database.transaction(batchesAfter);

  return {
    /** Returns a page of the month's entries, newest first, and the total number of entries that match. */
    query: (tenantId: string, filter: AccessFilter, offset: number, limit: number) =>
      reading(() => pageAtOnce(tenantId, filter, offset, limit), fileName),
    batches: (afterSequence: number, limit: number): AccessBatch[] =>
      reading(() => batchesAtOnce(afterSequence, limit), fileName),
    counter: {
      upTo: (afterSequence: number) => reading(() => counter.upTo(afterSequence), fileName),
      counts: (afterSequence: number, upTo: number) => reading(() => counter.counts(afterSequence, upTo), fileName),
    },
    newestBatch: newest,
    /** Returns the numbers of the first and last batch in the file, or null if the file has no batch. */
    span(): { readonly first: number; readonly last: number } | null {
      const last = newest();
      return last === null ? null : { first: Number(reading(() => oldest.get(), fileName)), last: last.sequence };
    },
    close: (): void => void database.close(),
  };
}

type EntryRow = {
  readonly batch: number;
  readonly tenant: string;
  readonly time: number;
  readonly actor: string;
  readonly actor_type: string;
  readonly key: string | null;
  readonly source: string | null;
  readonly entity_type: string;
  readonly ref: Buffer | null;
  readonly entity: string | null;
  readonly operation: string;
  readonly outcome: string;
  readonly message: string;
  readonly trace: number | null;
  readonly trace_index: number | null;
  readonly trace_stream: string | null;
  readonly trace_revision: number | null;
};

const words = ['tenant', 'actor', 'actor_type', 'key', 'source', 'entity_type', 'entity', 'operation', 'outcome'];

/**
 * Lists the slices that contain entries with a reference, the newest first. Skips from one to the next in the index, so
 * an attacker cannot make a query slow with a few entries whose ids are far apart.
 */
const slices = `(
  WITH RECURSIVE found (slice) AS (
    SELECT max(${sliceOfEntry}) FROM entries WHERE ref IS NOT NULL
    UNION ALL
    SELECT (SELECT max(${sliceOfEntry}) FROM entries WHERE ref IS NOT NULL AND ${sliceOfEntry} < slice) FROM found
    WHERE slice IS NOT NULL
  )
  SELECT slice FROM found
)`;

/**
 * Searches each slice for the conditions that follow. Once SQLite has as many entries as a page needs, it leaves an older
 * slice at the first entry.
 */
const fromSlices = `FROM ${slices} CROSS JOIN entries WHERE ${sliceOfEntry} = slice AND ref IS NOT NULL`;

/** The SELECT list for an `EntryRow`. It looks up the string for each word id. */
const entryColumns = [
  'batch',
  'time',
  'ref',
  'trace',
  'trace_index',
  'trace_stream',
  'trace_revision',
  ...[...words, 'message'].map((column) => `(SELECT text FROM words WHERE id = entries.${column}) AS ${column}`),
].join(', ');

/**
 * Returns the entry in a row. Its words may be null if `words` lacks them: the hash of its batch then shows that the
 * batch was changed. Throws StoreBroken if a column with bytes contains something else, because its page is damaged.
 */
function entryOf(row: EntryRow, trace: unknown, fileName: string): AccessEntry {
  const { trace_stream: stream, trace_revision: revision } = row;
  if (!isBytesOrNull(row.ref) || !isBytesOrNull(trace)) throw noEntry(fileName, row.batch);
  return {
    tenantId: row.tenant,
    time: row.time,
    actorId: row.actor,
    actorType: row.actor_type as ActorType,
    keyId: row.key,
    sourceAddress: row.source,
    entityType: row.entity_type,
    entityId: row.entity,
    entityRef: row.ref?.toString('hex') ?? null,
    operation: row.operation,
    outcome: row.outcome as AccessOutcome,
    message: row.message,
    trace,
    traceIndex: row.trace_index,
    tracePlace: stream === null || revision === null ? null : { stream, revision },
  };
}

/** Like `entryOf`, but throws StoreBroken for every row that the vault did not write as an entry. */
function shownEntryOf(row: EntryRow, trace: unknown, fileName: string): AccessEntry {
  const entry = entryOf(row, trace, fileName);
  if (!hasFieldsOfEntry(entry)) throw noEntry(fileName, row.batch);
  return entry;
}

function isBytesOrNull(value: unknown): value is Buffer | null {
  return value === null || Buffer.isBuffer(value);
}

function noEntry(fileName: string, batch: number): Error {
  return damagedFile(fileName, `batch ${batch} contains something other than entries`);
}
