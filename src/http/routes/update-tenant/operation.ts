import { documented } from '../../openapi/operation.js';
import { tenantExample } from '../../openapi/schemas/directory-examples.js';
import { tenant } from '../../openapi/schemas/tenant.js';

export const updateTenantOperation = documented({
  id: 'updateTenant',
  tag: 'Tenants',
  summary: 'Update the tenant',
  description: 'Gives it another name or other settings; a setting that is not given stays.',
  requestExample: { name: 'Example', settings: { deduplicate_tokens: 'true' } },
  answers: { 200: { description: 'The tenant as it is now.', schema: tenant, example: tenantExample } },
  problems: ['validation_failed'],
});
