import type { ApplicationType } from '../../domain/access/application-type.js';
import type { Directory } from '../../ports/directory.js';
import type { Maybe } from '../../ports/maybe.js';
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

type Listed = { readonly id: string; readonly application_type: string; readonly created_revision: number };

/**
 * The number of applications that are read at once. It is small because the index does not cover the condition on
 * `removed_at`, and finding a row of 15 KB takes about 0.1 ms.
 */
const scannedMax = 10;

/** Implements `Directory` on `vault.db`. The unit of work writes the rows. */
export function sqliteDirectory(database: SqliteDatabase, writer: Writer): Directory {
  const byHash = database.prepare(
    `SELECT ${columns} FROM api_keys JOIN directory ON kind = 'application' AND directory.id = api_keys.application
     WHERE api_keys.hash = ?`,
  );
  const byId = database.prepare(`SELECT ${columns} FROM directory WHERE kind = ? AND id = ?`);
  const ofKind = database.prepare(`SELECT ${columns} FROM directory WHERE kind = ?`);
  const usedOn = database.prepare('SELECT used_on FROM api_keys WHERE hash = ?').pluck();
  const living = database.prepare(
    `SELECT id, application_type, created_revision FROM directory INDEXED BY directory_living
     WHERE tenant = @tenantId AND kind = 'application' AND removed_at IS NULL AND created_revision < @before
     ORDER BY created_revision DESC LIMIT ${scannedMax}`,
  );

  /** Returns the tenant's applications that have not been deleted, newest first. Awaits `pause` before each part. */
  async function* livingApplications(tenantId: string, pause: () => Maybe<void>): AsyncIterable<Listed> {
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      await pause();
      const part = reading(() => living.all({ tenantId, before }) as Listed[]);
      yield* part;
      const last = part.at(-1);
      if (last === undefined || part.length < scannedMax) return;
      before = last.created_revision;
    }
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
    async applications(tenantId, { ids, types }, { offset, limit }, pause) {
      const [idSet, typeSet] = [setOf(ids), setOf(types)];
      const onPage: string[] = [];
      let total = 0;
      for await (const { id, application_type: type } of livingApplications(tenantId, pause)) {
        if (!(idSet?.has(id) ?? true) || !(typeSet?.has(type) ?? true)) continue;
        if (total >= offset && onPage.length < limit) onPage.push(id);
        total += 1;
      }
      const records: Stored<DirectoryRecord>[] = [];
      for (const id of onPage) {
        await pause();
        const row = reading(() => byId.get('application', id) as Row | undefined);
        // The application may have been deleted since its id was read.
        if (row !== undefined && row.removed_at === null) records.push(record(row));
      }
      return { records, total };
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

function setOf(values: readonly string[] | null): ReadonlySet<string> | null {
  return values === null ? null : new Set(values);
}
