import type { ApplicationDocument } from '../domain/tenancy/documents.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import { applicationDocument } from './open-directory.js';
import type { Vault } from './vault.js';

export type LivingApplication = { readonly id: string; readonly document: ApplicationDocument };

/**
 * Returns the record of a live application of this tenant. Returns null if the tenant has no live application with this
 * id.
 */
export async function applicationRecord(
  { directory }: Vault,
  tenantId: string,
  id: string,
): Promise<DirectoryRecord | null> {
  const record = await directory.get('application', id);
  return record === null || record.tenantId !== tenantId || record.removedAt !== null ? null : record;
}

/**
 * Returns a live application of this tenant, decrypted. Returns null if the tenant has no live application with this
 * id.
 */
export async function livingApplication(vault: Vault, tenantId: string, id: string): Promise<LivingApplication | null> {
  const record = await applicationRecord(vault, tenantId, id);
  const document = record === null ? null : await applicationDocument(vault, record);
  return document === null ? null : { id, document };
}
