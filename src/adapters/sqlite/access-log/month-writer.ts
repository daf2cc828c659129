import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessBatch } from '../../../events/access-log/access-entry.js';
import type { AccessLine } from '../../../events/access-log/batch-hash.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { Month } from '../../shared/month.js';
import { commitAlone, createGroupCommit } from '../database/group-commit.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { prepareFile } from '../database/prepare-file.js';
import { fileIdentity, monthFile, newestBatchOf } from './month-files.js';
import { accessSchema, accessSchemaVersion } from './month-schema.js';

/** A batch with its parsed lines. */
export type LinedBatch = Omit<AccessBatch, 'entries'> & { readonly lines: readonly AccessLine[] };

export type MonthWriter = ReturnType<typeof openMonthWriter>;

/** Opens one month's file for appending. Creates the file if it does not exist. */
export function openMonthWriter(dataDir: string, month: Month) {
  const fileName = monthFile(month);
  const path = join(dataDir, fileName);
  const prepare = (at: string) => prepareFile(at, fileName, accessSchema, accessSchemaVersion, 'unchecked');
  if (fileIdentity(dataDir, month) === null) {
    // Creates the file under a temporary name, so that a reader finds either a complete file or no file.
    prepare(`${path}.new`).close();
    // If the disk is full, SQLite closes the file without an error, and the tables stay in its write-ahead log.
    if (existsSync(`${path}.new-wal`)) throw new StoreUnavailable(fileName, 'full');
    // If an earlier file with this name was removed, it may have left its write-ahead log behind. Removes that log,
    // because SQLite would otherwise apply it to the new file.
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    renameSync(`${path}.new`, path);
  }
  const database = prepare(path);
  const identity = fileIdentity(dataDir, month);
  const commit = createGroupCommit(database, fileName, accessSchema);
  const words = createWords(database);
  const newest = newestBatchOf(database, month);
  const insertBatch = database.prepare('INSERT INTO batches (sequence, previous, hash) VALUES (?, ?, ?)');
  const insertEntry = database.prepare(
    `INSERT INTO entries (batch, tenant, time, actor, actor_type, key, source, entity_type, ref, entity, operation,
       outcome, message, trace, trace_index, trace_stream, trace_revision)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  const insertTrace = database.prepare('INSERT INTO traces (box) VALUES (?)');
  /** The newest ciphertext of several traces. The lines after it refer to it (`parseLines`). */
  let several: { readonly ciphertext: Uint8Array; readonly id: number | bigint } | null = null;

  function traceIdOf({ trace, traceIndex }: AccessLine['shared']): number | bigint | null {
    if (trace === null) return null;
    if (traceIndex !== null && several?.ciphertext === trace) return several.id;
    const { lastInsertRowid: id } = insertTrace.run(trace);
    if (traceIndex !== null) several = { ciphertext: trace, id };
    return id;
  }

  /** Inserts one row for each entry of a line. The entries share all words, so each id is looked up only once. */
  function insert(batch: number, { shared, refs }: AccessLine): void {
    const { idOf, idOrNull } = words;
    const { time, traceIndex, tracePlace } = shared;
    const trace = traceIdOf(shared);
    const tenant = idOf(shared.tenantId);
    const actor = idOf(shared.actorId);
    const actorType = idOf(shared.actorType);
    const key = idOrNull(shared.keyId);
    const source = idOrNull(shared.sourceAddress);
    const entityType = idOf(shared.entityType);
    const entity = idOrNull(shared.entityId);
    const operation = idOf(shared.operation);
    const outcome = idOf(shared.outcome);
    const message = idOf(shared.message);
    const traceStream = tracePlace?.stream ?? null;
    const traceRevision = tracePlace?.revision ?? null;
    for (const entityRef of refs) {
      insertEntry.run(
        batch,
        tenant,
        time,
        actor,
        actorType,
        key,
        source,
        entityType,
        entityRef === null ? null : Buffer.from(entityRef, 'hex'),
        entity,
        operation,
        outcome,
        message,
        trace,
        traceIndex,
        traceStream,
        traceRevision,
      );
    }
  }

  return {
    month,
    identity,
    /** Returns the sequence number of the newest batch in the file, or 0 if the file contains no batch. */
    newest: (): number => newest()?.sequence ?? 0,
    /** Appends the batches in one transaction, and makes them durable. */
    append(batches: readonly LinedBatch[]): void {
      const attempt = commitAlone(commit, () => {
        for (const { sequence, previous, hash, lines } of batches) {
          insertBatch.run(sequence, previous, hash);
          for (const line of lines) insert(sequence, line);
        }
      });
      if (attempt.ok) return;
      words.forget();
      several = null;
      throw attempt.error;
    },
    close: (): void => void database.close(),
  };
}

/** The maximum number of words in the cache. The cache needs a limit, because each source address is a word. */
const cachedMax = 10_000;

/** Maps strings to their ids in one month's file. Adds a new string to `words` in the current transaction. */
function createWords(database: SqliteDatabase) {
  const find = database.prepare('SELECT id FROM words WHERE text = ?').pluck();
  const insert = database.prepare('INSERT INTO words (text) VALUES (?)');
  const known = new Map<string, number>();

  function idOf(text: string): number {
    const cached = known.get(text);
    if (cached !== undefined) return cached;
    const id = Number(find.get(text) ?? insert.run(text).lastInsertRowid);
    if (known.size >= cachedMax) known.clear();
    known.set(text, id);
    return id;
  }

  return {
    idOf,
    idOrNull: (text: string | null): number | null => (text === null ? null : idOf(text)),
    /** Empties the cache. Call this after a rollback, because the words that the transaction added no longer exist. */
    forget: (): void => known.clear(),
  };
}
