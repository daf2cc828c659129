import { join } from 'node:path';
import type { Statement } from 'better-sqlite3';
import { type Clock, steadyNow } from '../../ports/clock.js';
import { type ClockRecords, decodeClockRecord, encodeClockRecord } from '../../ports/clock-record.js';
import type { FoundProblem } from '../../ports/store-problem.js';
import type { DirectoryRecord } from '../../views/directory-view.js';
import type { Stored } from '../../views/row-mac.js';
import { sqliteAccessLog } from './access-log.js';
import { sqliteBudgets } from './budgets.js';
import { sqliteClaims } from './claims.js';
import { databaseError, type StoreBroken } from './database/database-error.js';
import { openDatabase, type SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';
import { sqliteDirectory } from './directory.js';
import { sqliteErasureProbe } from './erasure-probe.js';
import { sqliteEventChain } from './event-chain.js';
import { sqliteEventLog } from './event-log.js';
import { rememberingInUse, sqliteGenerations } from './generations.js';
import { sqliteKeyStore } from './key-store.js';
import { createSearchConnections, type SearchConnections } from './search/search-connections.js';
import { IndexDamaged } from './search-index/entries.js';
import { sqliteSearchIndexCheck } from './search-index-check.js';
import { sqliteTokenRows } from './token-rows.js';
import { sqliteUnitOfWork } from './unit-of-work.js';
import { sqliteWebhookStore } from './webhook-store.js';
import { startWriter } from './writer/writer.js';

/**
 * The file whose write-ahead log still contains erased data because a program uses the file. Since the time `since`, one
 * of the files has always been in use. It is a time of the monotonic clock, in ms.
 */
export type HeldUp = { readonly file: string; readonly since: number };

/**
 * Opens the files in a data directory, and returns implementations of all ports on these files. Missing files are
 * created. A separate thread writes to the files, and the calling thread reads from them. Throws StoreBroken if a file
 * cannot be used. Calls `onBroken` if the files become unusable later. After each commit to the event log, calls
 * `onCommitted` with the number of changes in the commit.
 */
export async function openSqliteStores(
  dataDir: string,
  clock: Clock,
  onBroken: (error: StoreBroken) => void,
  onCommitted: (changes: number) => void = () => undefined,
) {
  let heldUp: HeldUp | null = null;
  let indexDamage: FoundProblem | null = null;
  const writer = await startWriter(dataDir, {
    onBroken,
    onCommitted,
    onHeldUp(file) {
      heldUp = file === null ? null : { file, since: heldUp?.since ?? steadyNow(clock) };
    },
    onIndexDamaged(found) {
      indexDamage = found;
    },
  });
  const readers: SqliteDatabase[] = [];
  const openReader = (fileName: string): SqliteDatabase => {
    const reader = openDatabase(join(dataDir, fileName), fileName, 'reader');
    readers.push(reader);
    return reader;
  };
  const accessLog = sqliteAccessLog(dataDir, writer);
  const closeAll = async (): Promise<void> => {
    accessLog.close();
    for (const reader of readers) reader.close();
    await writer.close();
  };
  try {
    const vault = openReader('vault.db');
    const keysDb = openReader('keys.db');
    const tokens = vault
      .prepare(
        `SELECT CASE (SELECT slot FROM generations WHERE state = 'read') WHEN 0
           THEN (SELECT sum(count) FROM token_counts_0) ELSE (SELECT sum(count) FROM token_counts_1) END`,
      )
      .pluck();
    const searches = createSearchConnections(() => openReader('vault.db'));
    const readGeneration = vault.prepare(`SELECT generation FROM generations WHERE state = 'read'`).pluck();
    const clockInKeys = keysDb.prepare(`SELECT value FROM meta WHERE name = 'clock'`).pluck();
    const logIdInKeys = keysDb.prepare(`SELECT value FROM meta WHERE name = 'log_id'`).pluck();
    const storedWork = sqliteUnitOfWork(writer);
    const chain = sqliteEventChain(vault);

    return {
      /** Messages for the operator about the state of the files. */
      notices: [writer.notice, await damagedIndex(searches, readGeneration)].filter((notice) => notice !== null),
      heldUp: () => heldUp,
      /** Why the search index is no longer maintained, or null if it is not known to be damaged. */
      indexDamage: () => indexDamage,
      storedWork,
      storedLog: sqliteEventLog(vault, storedWork),
      keyStore: sqliteKeyStore({ database: keysDb, writer, clock }),
      accessLog,
      chain,
      rows: sqliteTokenRows(vault, searches),
      erasureProbe: sqliteErasureProbe(vault, writer),
      searchIndex: sqliteSearchIndexCheck(() => openReader('vault.db')),
      generations: rememberingInUse(sqliteGenerations(vault, writer)),
      claims: sqliteClaims(vault, writer),
      budgets: sqliteBudgets(vault, writer),
      webhookStore: sqliteWebhookStore(vault, writer),
      directory: sqliteDirectory(vault, writer),
      clockRecords: {
        load: async () => {
          const stored = reading(() => clockInKeys.get() as Buffer | undefined, 'keys.db');
          return stored === undefined ? null : decodeClockRecord(stored);
        },
        save: async (record) => {
          await writer.request('save_meta', { name: 'clock', value: encodeClockRecord(record) });
        },
      } satisfies ClockRecords,
      /** Returns the id of the log that the key store belongs to, or null for a new key store. */
      logIdOfKeys: (): string | null =>
        reading(() => logIdInKeys.get() as Buffer | undefined, 'keys.db')?.toString('utf8') ?? null,
      async bindKeysToLog(logId: string): Promise<void> {
        await writer.request('save_meta', { name: 'log_id', value: Buffer.from(logId) });
      },
      /**
       * Replaces all directory rows. If an event after the position `upTo` has changed the directory, replaces nothing
       * and resolves to false.
       */
      replaceDirectory: (records: readonly Stored<DirectoryRecord>[], upTo: number): Promise<boolean> =>
        writer.request('replace_directory', { records, upTo }),
      /** Returns the number of live tokens, including expired tokens that have not been swept yet. */
      countRows: (): number => reading(() => Number(tokens.get() ?? 0)),
      async forgetTombstones(notBefore: number): Promise<void> {
        while (!(await writer.request('forget_tombstones', { notBefore })));
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/**
 * Opens the parts of the search index that every search needs: the changes, and the fences of the runs. Returns a
 * message if any of these parts is damaged. In that case, searches fail, but all other requests still work. `doctor`
 * checks the other parts of the index.
 */
async function damagedIndex(searches: SearchConnections, readGeneration: Statement): Promise<string | null> {
  try {
    const generation = Number(reading(() => readGeneration.get()));
    // This search belongs to no tenant.
    await searches.run({ tenantId: '', generation }, async () => null);
    return null;
  } catch (error) {
    if (error instanceof IndexDamaged) return error.message;
    throw databaseError(error, 'vault.db');
  }
}
