import { documented } from '../../openapi/operation.js';
import { tenantExample } from '../../openapi/schemas/directory-examples.js';
import { tenant } from '../../openapi/schemas/tenant.js';

export const getTenantOperation = documented({
  id: 'getTenant',
  tag: 'Tenants',
  summary: 'Get the tenant',
  description: 'The tenant of the calling application, with its settings.',
  answers: { 200: { description: 'The tenant.', schema: tenant, example: tenantExample } },
});
