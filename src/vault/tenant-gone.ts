import { KeyLost } from './key-lost.js';
import type { Vault } from './vault.js';

/**
 * Thrown if the tenant was deleted during a request. The tenant's keys were destroyed on purpose, so no key is lost.
 * The response is 401, as it is for later requests with the tenant's API keys.
 */
export class TenantGone extends Error {
  constructor() {
    super('tenant_gone');
    this.name = 'TenantGone';
  }
}

/**
 * Returns the error for a missing key. Returns TenantGone if the tenant was deleted, because its keys were destroyed
 * with it. If the tenant was not deleted, returns KeyLost.
 */
export async function keyNotThere(
  { directory }: Pick<Vault, 'directory'>,
  tenantId: string,
  stream: string,
  what: ConstructorParameters<typeof KeyLost>[1],
): Promise<TenantGone | KeyLost> {
  const tenant = await directory.get('tenant', tenantId);
  return tenant !== null && tenant.removedAt !== null ? new TenantGone() : new KeyLost(stream, what);
}
