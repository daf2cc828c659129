import { z } from 'zod';
import { createTenant } from '../../commands/tenancy/create-tenant.js';
import { OperationFailed, operation } from '../operations/operation.js';

/**
 * Creates the first tenant and its management application. Throws OperationFailed if a tenant already exists
 * (docs/contract.md, "Initialize").
 */
export const init = operation(z.object({ name: z.string().min(1).max(200) }), async ({ vault }, { name }) =>
  vault.streams.run(['init'], async () => {
    if ((await vault.directory.list('tenant')).length > 0) {
      throw new OperationFailed(
        'the vault is already initialized; no tenant was created. To create another one, run `strongroom ' +
          'tenants create`.',
      );
    }
    const { tenantId, managementKey } = await createTenant(vault, name, []);
    return { tenant_id: tenantId, management_key: managementKey.reveal() };
  }),
);
