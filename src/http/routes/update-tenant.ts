import { updateTenant } from '../../commands/tenancy/update-tenant.js';
import { tenantAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { directoryContextOf } from '../directory-context.js';
import { problemFrom } from '../error-handler.js';
import { documented } from '../openapi/operation.js';
import { tenant, tenantExample } from '../openapi/schemas/tenancy.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';
import { updateTenantBody } from '../tenancy-body.js';

const operation = documented({
  id: 'updateTenant',
  tag: 'Tenants',
  summary: 'Update the tenant',
  description:
    'Changes the name and the given settings. Other settings stay the same. If `show_fingerprints` is "true", ' +
    'get, list, search and detokenize show the fingerprints of tokens even to callers that see the tokens masked ' +
    'or redacted. Equal values have equal fingerprints, so such a caller can find a hidden value by trying ' +
    'candidates if it may also create tokens. No guess budget limits the attempts. `_warnings` contains a warning ' +
    'while the setting is on.',
  requestExample: { name: 'Example', settings: { deduplicate_tokens: 'true' } },
  answers: { 200: { description: 'The updated tenant.', schema: tenant, example: tenantExample } },
  problems: ['validation_failed'],
});

/** `PUT /tenants/self` (docs/contract.md, "Tenants"). */
export const updateTenantRoute: Routes = (app, { vault }) => {
  app.put(
    '/tenants/self',
    {
      schema: { body: updateTenantBody },
      config: { permission: 'tenant:update', mediaType: 'application/json', operation },
    },
    async (request, reply) => {
      const context = directoryContextOf(request);
      const result = await updateTenant(vault, context, request.body);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, tenantAnswer(context.tenantId, result.value));
    },
  );
};
