import { z } from 'zod';
import { createTenant as create } from '../../commands/tenancy/create-tenant.js';
import { parseName } from '../../domain/tenancy/parse-directory.js';
import { fieldErrorText } from '../operations/field-error-text.js';
import { OperationFailed, operation } from '../operations/operation.js';

/** Creates a tenant and its management application. */
export const createTenant = operation(z.object({ name: z.string() }), async ({ vault }, input) => {
  const name = parseName(input.name);
  if (!name.ok) throw new OperationFailed(fieldErrorText(name.errors));
  const { tenantId, managementKey } = await create(vault, name.value, []);
  return { tenant_id: tenantId, management_key: managementKey.reveal() };
});
