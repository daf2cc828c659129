import type { TenantKeys } from '../ports/key-ring.js';
import { KeyLost } from './key-lost.js';
import type { Vault } from './vault.js';

/** The subkeys of a tenant that has a caller: they are there, or the key store lost them. */
export async function tenantKeysOf({ keys }: Vault, tenantId: string): Promise<TenantKeys> {
  const tenantKeys = await keys.tenantKeys(tenantId);
  if (tenantKeys === null) throw new KeyLost(`tenant-${tenantId}`, 'key_missing');
  return tenantKeys;
}

/** The key of the terms that a tenant's tokens are searched by. */
export async function searchKeyOf({ keys }: Vault, tenantId: string): Promise<Buffer> {
  const searchKey = await keys.searchKey(tenantId);
  if (searchKey === null) throw new KeyLost(`tenant-${tenantId}`, 'key_missing');
  return searchKey;
}
