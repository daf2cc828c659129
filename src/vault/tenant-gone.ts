import { KeyLost } from './key-lost.js';
import type { Vault } from './vault.js';

/**
 * The tenant was deleted while a request of it was under way. Its keys are destroyed on purpose, so nothing is lost; the
 * answer is that of any later request with one of its API keys: 401.
 */
export class TenantGone extends Error {
  constructor() {
    super('tenant_gone');
    this.name = 'TenantGone';
  }
}

/** What to throw when a key of a tenant is not there: it was destroyed with the tenant, or it is lost. */
export async function keyNotThere(
  { directory }: Pick<Vault, 'directory'>,
  tenantId: string,
  stream: string,
  what: ConstructorParameters<typeof KeyLost>[1],
): Promise<TenantGone | KeyLost> {
  const tenant = await directory.get('tenant', tenantId);
  return tenant !== null && tenant.removedAt !== null ? new TenantGone() : new KeyLost(stream, what);
}
