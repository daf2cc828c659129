import { z } from 'zod';
import { recordOperatorRead } from '../../audit/access-log/record-for-all-tenants.js';
import { forTenants } from '../../vault/for-tenants.js';
import { openTenant } from '../../vault/open-directory.js';
import { operation } from '../operations/operation.js';

/** Returns the ids and names of all live tenants, and the problem of each tenant whose row or keys are damaged. */
export const listTenants = operation(z.object({}), async ({ vault }) => {
  const tenants: { readonly tenant_id: string; readonly name: string }[] = [];
  const damaged = await forTenants(vault, null, async (record) => {
    const document = await openTenant(vault, record);
    if (document !== null) tenants.push({ tenant_id: record.id, name: document.name });
  });
  await recordOperatorRead(vault, 'tenant', null);
  return { tenants, damaged: damaged.map(({ id, error }) => ({ id, problem: error.message })) };
});
