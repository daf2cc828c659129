import type { Directory, DirectoryRecord } from '../../ports/directory.js';
import type { SqliteDatabase } from './open-database.js';
import { reading } from './reading.js';

type Row = {
  readonly stream: string;
  readonly kind: DirectoryRecord['kind'];
  readonly id: string;
  readonly tenant: string;
  readonly revision: number;
  readonly content_revision: number;
  readonly content: Buffer | null;
  readonly removed_at: number | null;
};

/** `Directory` on `vault.db`; rows are written by the unit of work. */
export function sqliteDirectory(database: SqliteDatabase): Directory {
  const byHash = database.prepare(
    'SELECT directory.* FROM api_keys JOIN directory USING (stream) WHERE api_keys.hash = ?',
  );
  const byId = database.prepare('SELECT * FROM directory WHERE kind = ? AND id = ?');
  const ofKind = database.prepare('SELECT * FROM directory WHERE kind = ?');
  const hashesOf = database.prepare('SELECT hash FROM api_keys WHERE stream = ?').pluck();

  function record(row: Row): DirectoryRecord {
    const { stream, kind, id, tenant, revision, content } = row;
    return {
      ...{ stream, kind, id, tenantId: tenant, revision, content },
      contentRevision: row.content_revision,
      removedAt: row.removed_at,
      keyHashes: hashesOf.all(stream) as string[],
    };
  }

  return {
    async byKeyHash(keyHash) {
      const row = reading(() => byHash.get(keyHash) as Row | undefined);
      return row === undefined ? null : record(row);
    },
    async get(kind, id) {
      const row = reading(() => byId.get(kind, id) as Row | undefined);
      return row === undefined ? null : record(row);
    },
    async list(kind) {
      return reading(() => ofKind.all(kind) as Row[]).map(record);
    },
  };
}
