import type { DirectoryWriter } from '../../ports/directory.js';
import { applyToDirectory, type DirectoryView } from '../../projections/directory-view.js';
import type { Vault } from '../vault.js';

const nothing: DirectoryView = { tenant: null, applications: new Map() };

/** Brings the rows of a tenant and its applications to the end of the tenant's stream. */
export async function projectDirectory(
  { log }: Pick<Vault, 'log'>,
  directory: DirectoryWriter,
  stream: string,
): Promise<void> {
  const { tenant, applications } = (await log.readStream(stream)).reduce(applyToDirectory, nothing);
  // The tenant last: who reads it first must not miss an application.
  if (tenant !== null) await directory.write([...applications.values(), tenant]);
}
