import { join } from 'node:path';
import { BackupRefused, type ErasedKeys } from '../../../ports/backup.js';
import type { KeyRingReader } from '../../../ports/key-store.js';
import { databaseError } from '../database/database-error.js';
import { keysSchema, keysSchemaVersion, never, noRevision } from '../database/keys-schema.js';
import { prepareFile } from '../database/prepare-file.js';
import { noEventBytes, uuidText } from '../database/uuid-bytes.js';
import { decodeKeyLine, type KeyLine } from './key-line.js';

const rowsAtOnce = 1_000;
/**
 * The log readers whose checkpoints are not restored. These readers start again at position 0, because the log may be
 * restored from a different backup than the keys.
 */
const readers: readonly KeyRingReader[] = ['shredder', 'orphans', 'anchor', 'log'];
const notRestored = new Set<unknown>([...readers, 'log_memory']);

/**
 * Creates `keys.db` from the lines of a backup. A key that was erased after the backup was made is written as
 * destroyed. Throws BackupRefused if a line is not a key, StoreUnavailable if the disk is full, and StoreBroken if the
 * disk fails.
 */
export async function writeKeys(dataDir: string, lines: AsyncIterable<string>, erased: ErasedKeys): Promise<void> {
  const database = prepareFile(join(dataDir, 'keys.db'), 'keys.db', keysSchema, keysSchemaVersion);
  try {
    const statements = new Map<string, ReturnType<typeof database.prepare>>();
    const statementFor = (sql: string) => {
      const statement = statements.get(sql) ?? database.prepare(sql);
      statements.set(sql, statement);
      return statement;
    };
    const insert = database.transaction((rows: readonly KeyLine[]) => {
      for (const { table, row } of rows) {
        const names = Object.keys(row);
        if (![table, ...names].every((name) => /^[a-z_]+$/.test(name))) throw notARow();
        const values = names.map((name) => `@${name}`).join();
        statementFor(`INSERT INTO ${table} (${names.join()}) VALUES (${values})`).run(row);
      }
    });
    let rows: KeyLine[] = [];
    for await (const line of lines) {
      const decoded = decodeKeyLine(line);
      if (decoded === null) throw notARow();
      if (decoded.table === 'meta' && notRestored.has(decoded.row['name'])) continue;
      // Skips the recorded revisions. A backup copies the keys after the log, so these revisions may be missing from
      // the restored log. The shredder records the current revisions again when it reads the log.
      if (decoded.table === 'directory_revisions') continue;
      rows.push(withoutErased(withoutRevision(decoded), erased));
      if (rows.length < rowsAtOnce) continue;
      insert(rows);
      rows = [];
    }
    insert(rows);
  } catch (error) {
    throw databaseError(error, 'keys.db', database.name);
  } finally {
    database.close();
  }
}

function withoutRevision({ table, row }: KeyLine): KeyLine {
  return table === 'data_keys' ? { table, row: { ...row, revision: noRevision } } : { table, row };
}

function withoutErased({ table, row }: KeyLine, { ids, madeAt }: ErasedKeys): KeyLine {
  const { id, wrapped, destroyed_at } = row;
  const keyId = Buffer.isBuffer(id) ? uuidText(id) : String(id);
  if (!Buffer.isBuffer(wrapped) || destroyed_at !== never || !ids.has(keyId)) return { table, row };
  const ended = { destroyed_at: madeAt, destroyed_by: noEventBytes, wrapped: Buffer.alloc(wrapped.length) };
  return { table, row: { ...row, ...ended } };
}

function notARow(): BackupRefused {
  return new BackupRefused(
    'the keys in this backup are not rows of a key store of this version. Restore it with the version that made it.',
  );
}
