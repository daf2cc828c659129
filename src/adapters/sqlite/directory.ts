import type { ApplicationType } from '../../domain/access/application-type.js';
import type { Directory } from '../../ports/directory.js';
import type { DirectoryRecord } from '../../views/directory-view.js';
import type { Stored } from '../../views/row-mac.js';
import type { SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';
import type { Writer } from './writer/writer.js';

type Row = {
  readonly kind: DirectoryRecord['kind'];
  readonly id: string;
  readonly tenant: string;
  readonly application_type: ApplicationType | null;
  readonly revision: number;
  readonly created_revision: number;
  readonly content_revision: number;
  readonly content: Buffer | null;
  readonly removed_at: number | null;
  readonly mac: Buffer;
  /** The application's keys, as JSON. Empty for a tenant. */
  readonly keys: string;
};

/**
 * The columns of a `Row`. A statement returns a row together with its keys, because the row's MAC covers both. Two
 * statements could return a row from before a commit and its keys from after it, and the row would look forged.
 */
const columns = `directory.*, (
  SELECT json_group_array(json_object('id', id, 'hash', hash)) FROM api_keys
  WHERE directory.kind = 'application' AND application = directory.id
) AS keys`;

/** Implements `Directory` on `vault.db`. The unit of work writes the rows. */
export function sqliteDirectory(database: SqliteDatabase, writer: Writer): Directory {
  const byHash = database.prepare(
    `SELECT ${columns} FROM api_keys JOIN directory ON kind = 'application' AND directory.id = api_keys.application
     WHERE api_keys.hash = ?`,
  );
  const byId = database.prepare(`SELECT ${columns} FROM directory WHERE kind = ? AND id = ?`);
  const ofKind = database.prepare(`SELECT ${columns} FROM directory WHERE kind = ?`);
  const usedOn = database.prepare('SELECT used_on FROM api_keys WHERE hash = ?').pluck();
  const living = `FROM directory WHERE tenant = @tenantId AND kind = 'application' AND removed_at IS NULL
    AND (@ids IS NULL OR id IN (SELECT value FROM json_each(@ids)))
    AND (@types IS NULL OR application_type IN (SELECT value FROM json_each(@types)))`;
  const page = database.prepare(
    `SELECT ${columns} ${living} ORDER BY created_revision DESC LIMIT @limit + 0 OFFSET @offset`,
  );
  const count = database.prepare(`SELECT count(*) ${living}`).pluck();

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
    async applications(tenantId, { ids, types }, { offset, limit }) {
      const filter = { tenantId, ids: jsonOf(ids), types: jsonOf(types) };
      const rows = reading(() => page.all({ ...filter, offset, limit }) as Row[]);
      return { records: rows.map(record), total: reading(() => Number(count.get(filter))) };
    },
    async keyUsedIn(keyHash) {
      return reading(() => (usedOn.get(keyHash) as number | null | undefined) ?? null);
    },
    async markKeyUsed(keyHash, minute) {
      await writer.request('mark_key_used', { keyHash, minute });
    },
  };
}

function record(row: Row): Stored<DirectoryRecord> {
  const { kind, id, tenant: tenantId, revision, content, mac } = row;
  return {
    kind,
    id,
    tenantId,
    revision,
    content,
    mac,
    applicationType: row.application_type,
    createdRevision: row.created_revision,
    contentRevision: row.content_revision,
    removedAt: row.removed_at,
    keys: JSON.parse(row.keys) as DirectoryRecord['keys'],
  };
}

function jsonOf(values: readonly string[] | null): string | null {
  return values === null ? null : JSON.stringify(values);
}
