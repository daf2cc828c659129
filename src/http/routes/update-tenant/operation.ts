import { documented } from '../../openapi/operation.js';
import { tenantExample } from '../../openapi/schemas/directory-examples.js';
import { tenant } from '../../openapi/schemas/tenant.js';

export const updateTenantOperation = documented({
  id: 'updateTenant',
  tag: 'Tenants',
  summary: 'Update the tenant',
  description:
    'Gives it another name or other settings; a setting that is not given stays. With `show_fingerprints` "true", get, ' +
    'list, search and detokenize show the fingerprints of tokens to callers that see them masked or redacted. Equal ' +
    'values have equal fingerprints, so such a caller that may also create tokens finds out a hidden value by trying ' +
    'candidates; no limit holds it up. `_warnings` says so while the setting is on.',
  requestExample: { name: 'Example', settings: { deduplicate_tokens: 'true' } },
  answers: { 200: { description: 'The tenant as it is now.', schema: tenant, example: tenantExample } },
  problems: ['validation_failed'],
});
