import type { TenantKeys } from '../ports/key-ring.js';
import { keyNotThere } from './tenant-gone.js';
import type { Vault } from './vault.js';

/**
 * The subkeys of a tenant that has a caller. Throws TenantGone when it was deleted meanwhile, and KeyLost when the key
 * store lost them.
 */
export async function tenantKeysOf(vault: Vault, tenantId: string): Promise<TenantKeys> {
  const tenantKeys = await vault.keys.tenantKeys(tenantId);
  if (tenantKeys === null) throw await keyNotThere(vault, tenantId, `tenant-${tenantId}`, 'key_missing');
  return tenantKeys;
}

/** The key of the terms that a tenant's tokens are searched by. */
export async function searchKeyOf(vault: Vault, tenantId: string): Promise<Buffer> {
  const searchKey = await vault.keys.searchKey(tenantId);
  if (searchKey === null) throw await keyNotThere(vault, tenantId, `tenant-${tenantId}`, 'key_missing');
  return searchKey;
}
