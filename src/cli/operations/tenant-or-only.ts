import type { Service } from '../../http/service.js';
import { OperationFailed } from './operation.js';

/**
 * Returns `tenantId` if it is the id of a live tenant. If `tenantId` is null, returns the id of the only live tenant.
 * Throws OperationFailed if no such tenant exists, or if `tenantId` is null and there are several tenants.
 */
export async function tenantOrOnly({ vault }: Service, tenantId: string | null): Promise<string> {
  if (tenantId !== null) {
    const record = await vault.directory.get('tenant', tenantId);
    if (record?.removedAt === null) return tenantId;
    throw new OperationFailed('there is no such tenant. Run `strongroom tenants list` to see all tenants.');
  }
  const tenants = (await vault.directory.list('tenant')).filter(({ removedAt }) => removedAt === null);
  const [first] = tenants;
  if (first === undefined) throw new OperationFailed('there are no tenants yet. Create one with `strongroom init`.');
  if (tenants.length > 1) throw new OperationFailed('there are several tenants. Choose one with --tenant ID.');
  return first.id;
}
