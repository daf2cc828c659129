import type { ApplicationFilter } from '../../ports/directory.js';
import type { LivingApplication } from '../../vault/open-directory.js';
import { applicationDocument } from '../../vault/open-directory.js';
import type { Vault } from '../../vault/vault.js';

/** Returns a page of a tenant's live applications, newest first, and the total number of live applications. */
export async function listApplications(
  vault: Pick<Vault, 'directory' | 'keys' | 'turns'>,
  tenantId: string,
  filter: ApplicationFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ readonly applications: readonly LivingApplication[]; readonly total: number }> {
  const { pause } = vault.turns.begin(tenantId);
  const { records, total } = await vault.directory.applications(tenantId, filter, page, pause);
  const applications: LivingApplication[] = [];
  for (const record of records) {
    await pause();
    const document = await applicationDocument(vault, record);
    if (document !== null) applications.push({ id: record.id, document });
  }
  return { applications, total };
}
