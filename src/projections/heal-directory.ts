import { tenantStream } from '../events/tenancy/streams.js';
import type { Vault } from '../vault/vault.js';
import { applyToDirectory, noDirectoryRows } from '../views/directory-view.js';

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
  const { tenant, applications } = (await log.readStream(stream)).reduce(applyToDirectory, noDirectoryRows);
  if (tenant === null) return;
  await keys.noteDirectory([...applications.values(), tenant]);
  await work.follow([{ tenantId, stream, revision: tenant.revision }]);
}
