import type { Vault } from '../vault.js';
import { tenantDocument } from './open-directory.js';

/** Whether a request is deduplicated: what it says itself, else the tenant's setting (contract, section 3). */
export async function deduplicationInForce(
  vault: Vault,
  tenantId: string,
  requested: boolean | null | undefined,
): Promise<boolean> {
  if (typeof requested === 'boolean') return requested;
  const tenant = await tenantDocument(vault, tenantId);
  return tenant?.settings.deduplicate_tokens === 'true';
}

/** Whether the keys of replaced data live until the token is deleted, for replay as of an earlier time. */
export async function keepsSupersededData(vault: Vault, tenantId: string): Promise<boolean> {
  const tenant = await tenantDocument(vault, tenantId);
  return tenant?.settings.keep_superseded_data === 'true';
}
