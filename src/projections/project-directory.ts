import type { DirectoryWriter } from '../ports/directory.js';
import type { Vault } from '../vault/vault.js';
import { applyToDirectory, noDirectoryRows } from '../views/directory-view.js';
import { withDirectoryMac } from '../views/row-mac.js';

/** Brings the rows of a tenant and its applications up to the end of the tenant's stream. */
export async function projectDirectory(
  { log, integrity }: Pick<Vault, 'log' | 'integrity'>,
  directory: DirectoryWriter,
  stream: string,
): Promise<void> {
  const { tenant, applications } = (await log.readStream(stream)).reduce(applyToDirectory, noDirectoryRows);
  if (tenant === null) return;
  await directory.writeAll(
    [...applications.values(), tenant].map((record) => withDirectoryMac(integrity.rows, record)),
  );
}
