import { z } from 'zod';
import { createTenant as create } from '../../commands/directory/create-tenant.js';
import { operation } from './operation.js';

/** Makes a further tenant with its management application. */
export const createTenant = operation(z.object({ name: z.string().min(1).max(200) }), async ({ vault }, { name }) => {
  const { tenantId, managementKey } = await create(vault, name, []);
  return { tenant_id: tenantId, management_key: managementKey.reveal() };
});
