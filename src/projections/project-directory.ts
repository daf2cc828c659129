import { isTenantStream, tenantStream } from '../events/tenancy/streams.js';
import type { DirectoryWriter } from '../ports/directory.js';
import type { EventLog } from '../ports/event-log.js';
import type { FoldedDirectory } from '../ports/rebuild-thread.js';
import { ForgedRow } from '../vault/forged-row.js';
import type { Vault } from '../vault/vault.js';
import { type DirectoryRecord, foldDirectoryRows } from '../views/directory-view.js';
import { type Stored, withDirectoryMac } from '../views/row-mac.js';

/** The number of events that a rebuild reads at the same time. */
const pageSize = 1_000;

/**
 * Brings the rows of a tenant and its applications up to the end of the tenant's stream. Throws ForgedRow if a row
 * cannot be written because of a forged row.
 */
export async function projectDirectory(
  { log, integrity }: Pick<Vault, 'log' | 'integrity'>,
  directory: DirectoryWriter,
  stream: string,
): Promise<void> {
  const records = await foldTenant(log, stream);
  if (records.length === 0) return;
  const outcome = await directory.writeAll(records.map((record) => withDirectoryMac(integrity.rows, record)));
  // Threat: an attacker adds a row that contains a key of this record. The vault did not write that row.
  if (typeof outcome === 'object') {
    throw new ForgedRow({ of: outcome.blocked.kind, name: outcome.blocked.id }, 'outdated');
  }
}

/**
 * Brings the rows of a tenant and its applications up to the end of the tenant's stream, and records the revisions of
 * these rows in the key store. This repairs the rows and the key store after a process appended a change and crashed
 * before it updated them. The response to such a change was never sent.
 */
export async function healDirectory(
  { log, keys, work }: Pick<Vault, 'log' | 'keys' | 'work'>,
  tenantId: string,
): Promise<void> {
  const stream = tenantStream(tenantId);
  const records = await foldTenant(log, stream);
  const tenant = records.at(-1);
  if (tenant === undefined) return;
  await keys.noteDirectory(records);
  await work.follow([{ tenantId, stream, revision: tenant.revision }]);
}

/** Returns the rows of all tenants and applications as of the head of the log. Decrypts nothing. */
export async function foldDirectory(
  log: Pick<EventLog, 'head' | 'readClear' | 'readStream'>,
  macKey: Uint8Array,
): Promise<FoldedDirectory> {
  const upTo = await log.head();
  const streams = new Set<string>();
  for (let position = 0; ; ) {
    const page = await log.readClear(position, pageSize);
    for (const { stream } of page) if (isTenantStream(stream)) streams.add(stream);
    const last = page.at(-1);
    if (last === undefined || last.position >= upTo) break;
    position = last.position;
  }
  const records: Stored<DirectoryRecord>[] = [];
  for (const stream of streams) {
    for (const record of await foldTenant(log, stream)) records.push(withDirectoryMac(macKey, record));
  }
  return { records, upTo };
}

/**
 * Returns the records of a tenant's applications, and last the record of the tenant, because it is written last.
 * Returns no records if the stream has no events.
 */
async function foldTenant(log: Pick<EventLog, 'readStream'>, stream: string): Promise<readonly DirectoryRecord[]> {
  const { tenant, applications } = foldDirectoryRows(await log.readStream(stream));
  return tenant === null ? [] : [...applications.values(), tenant];
}
