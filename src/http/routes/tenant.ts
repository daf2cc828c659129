import { z } from 'zod';
import { deleteTenant } from '../../commands/tenancy/delete-tenant.js';
import { updateTenant } from '../../commands/tenancy/update-tenant.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { tenantAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { usageReport } from '../../queries/tenancy/usage-report.js';
import { tenantDocument } from '../../vault/open-directory.js';
import { anObject, anyJson, text } from '../body/body-fields.js';
import { documented } from '../openapi/operation.js';
import { wholeNumber } from '../openapi/schemas/formats.js';
import { tenant, tenantExample } from '../openapi/schemas/tenancy.js';
import { Problem, problemFrom } from '../problem/problem.js';
import { callerOf, directoryContextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

/**
 * The body of an update (docs/contract.md, "Tenants"). The schema checks only JSON types. The domain checks everything
 * else. Unknown fields are ignored.
 */
const updateBody = z.object(
  {
    name: text.meta({ description: 'A human-readable name of 1 to 200 characters.' }),
    settings: anyJson.optional().meta({
      type: ['object', 'null'],
      additionalProperties: { enum: ['true', 'false', null] },
      description:
        '`deduplicate_tokens`, `keep_superseded_data` and `show_fingerprints`. A setting that is absent stays the ' +
        'same.',
    }),
  },
  anObject,
);
const deleteBody = z.object({ name: text.meta({ description: 'The tenant’s name, as confirmation.' }) }, anObject);

/** The number of live tokens (docs/contract.md, "Usage report"). */
const report = z
  .object({
    token_report: z
      .object({
        tokens_total: wholeNumber('The number of live tokens.'),
        tokens_by_type: z
          .partialRecord(z.enum(tokenTypes), wholeNumber('The number of live tokens of this type.'))
          .meta({ description: 'The number of live tokens of each type. Types without tokens are absent.' }),
      })
      .meta({ description: 'The tenant’s tokens.' }),
  })
  .meta({ id: 'UsageReport', description: 'How much the tenant stores.' });

const get = documented({
  id: 'getTenant',
  tag: 'Tenants',
  summary: 'Get the tenant',
  description: 'Returns the tenant of the calling application, with its settings.',
  answers: { 200: { description: 'The tenant.', schema: tenant, example: tenantExample } },
});

const update = documented({
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

const remove = documented({
  id: 'deleteTenant',
  tag: 'Tenants',
  summary: 'Delete the tenant',
  description:
    'Destroys all of the tenant’s keys, so none of its tokens can ever be decrypted again. The body must repeat ' +
    'the tenant’s name. After a 503, send the same request again to finish the deletion.',
  requestExample: { name: 'Example' },
  answers: {
    204: { description: 'The tenant is deleted. Its tokens cannot be decrypted, and its API keys no longer work.' },
  },
  problems: ['validation_failed'],
});

const usage = documented({
  id: 'usageReport',
  tag: 'Tenants',
  summary: 'Get the usage report',
  description: 'Returns the number of live tokens that the tenant has.',
  answers: {
    200: {
      description: 'The report.',
      schema: report,
      example: { token_report: { tokens_total: 3, tokens_by_type: { card: 2, token: 1 } } },
    },
  },
});

/** `/tenants/self` (docs/contract.md, "Tenants" and "Usage report"). */
export const tenantRoutes: Routes = (app, { vault }) => {
  app.get('/tenants/self', { config: { permission: 'tenant:read', operation: get } }, async (request, reply) => {
    const { tenantId } = callerOf(request);
    const tenant = await tenantDocument(vault, tenantId);
    // Authentication has found the tenant, so another request must have deleted it since then.
    if (tenant === null) throw new Problem('unauthenticated');
    return sendJson(reply, 200, tenantAnswer(tenantId, tenant));
  });
  app.put(
    '/tenants/self',
    {
      schema: { body: updateBody },
      config: { permission: 'tenant:update', mediaType: 'application/json', operation: update },
    },
    async (request, reply) => {
      const context = directoryContextOf(request);
      const result = await updateTenant(vault, context, request.body);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, tenantAnswer(context.tenantId, result.value));
    },
  );
  app.delete(
    '/tenants/self',
    {
      schema: { body: deleteBody },
      config: {
        permission: 'tenant:delete',
        mediaType: 'application/json',
        // If the response is 503, repeating the request completes the deletion.
        finishesTenantDeletion: true,
        operation: remove,
      },
    },
    async (request, reply) => {
      const result = await deleteTenant(vault, directoryContextOf(request), request.body.name);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
  app.get(
    '/tenants/self/reports/usage',
    { config: { permission: 'report:read', operation: usage } },
    async (request, reply) => {
      const { total, byType } = await usageReport(vault, callerOf(request).tenantId);
      const counts = { tokens_total: total, tokens_by_type: Object.fromEntries(byType) };
      return sendJson(reply, 200, { token_report: counts });
    },
  );
};
