import { tenantStream } from '../events/tenancy/streams.js';
import type { Vault } from '../vault/vault.js';
import { applyToDirectory, noDirectoryRows } from '../views/directory-view.js';

/**
 * Records the revisions of a tenant and its applications from the log in the key store, and brings their rows to the
 * end of the stream. A process that changed them may have died before it did so; its change was not acknowledged.
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
