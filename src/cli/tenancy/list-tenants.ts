import { z } from 'zod';
import { recordOperatorRead } from '../../audit/access-log/record-for-all-tenants.js';
import { tenantDocument } from '../../vault/open-directory.js';
import { operation } from '../operations/operation.js';

/** Returns the ids and names of all live tenants. */
export const listTenants = operation(z.object({}), async ({ vault }) => {
  const records = await vault.directory.list('tenant');
  const tenants = await Promise.all(records.map(async ({ id }) => ({ id, document: await tenantDocument(vault, id) })));
  await recordOperatorRead(vault, 'tenant', null);
  return {
    tenants: tenants.flatMap(({ id, document }) => (document === null ? [] : [{ tenant_id: id, name: document.name }])),
  };
});
