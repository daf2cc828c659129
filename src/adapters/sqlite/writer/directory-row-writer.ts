import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { SqliteDatabase } from '../database/open-database.js';

/** Writes the rows of tenants and applications. */
export function createDirectoryRowWriter(database: SqliteDatabase) {
  const upsertDirectory = database.prepare(
    `INSERT INTO directory (kind, id, tenant, application_type, revision, created_revision, content_revision, content,
       removed_at, mac)
     VALUES (@kind, @id, @tenantId, @applicationType, @revision, @createdRevision, @contentRevision, @content, @removedAt,
       @mac)
     ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, content_revision = excluded.content_revision,
       content = excluded.content, removed_at = excluded.removed_at, mac = excluded.mac`,
  );
  const dropApiKeys = database.prepare(
    'DELETE FROM api_keys WHERE application = ? AND hash NOT IN (SELECT value FROM json_each(?))',
  );
  // An existing key keeps the minute in which it was last used.
  const addApiKey = database.prepare(
    'INSERT INTO api_keys (hash, id, application) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING',
  );
  const removeAll = database.prepare('DELETE FROM directory');
  const dropStrayKeys = database.prepare(
    `DELETE FROM api_keys WHERE application NOT IN (SELECT id FROM directory WHERE kind = 'application')`,
  );

  function write(record: Stored<DirectoryRecord>): void {
    const { keys, ...row } = record;
    upsertDirectory.run(row);
    if (record.kind === 'tenant') return;
    dropApiKeys.run(record.id, JSON.stringify(keys.map(({ hash }) => hash)));
    for (const { id, hash } of keys) addApiKey.run(hash, id, record.id);
  }

  return {
    write,
    /** Replaces all rows with `records`. Existing keys keep the minute in which they were last used. */
    replaceAll(records: readonly Stored<DirectoryRecord>[]): void {
      removeAll.run();
      for (const record of records) write(record);
      dropStrayKeys.run();
    },
  };
}
