import { tenantAnswer } from '../../queries/tenancy/tenancy-answers.js';
import { tenantDocument } from '../../vault/open-directory.js';
import { documented } from '../openapi/operation.js';
import { tenant, tenantExample } from '../openapi/schemas/tenancy.js';
import { Problem } from '../problem/problem.js';
import { callerOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const operation = documented({
  id: 'getTenant',
  tag: 'Tenants',
  summary: 'Get the tenant',
  description: 'Returns the tenant of the calling application, with its settings.',
  answers: { 200: { description: 'The tenant.', schema: tenant, example: tenantExample } },
});

/** `GET /tenants/self` (docs/contract.md, "Tenants"). */
export const getTenantRoute: Routes = (app, { vault }) => {
  app.get('/tenants/self', { config: { permission: 'tenant:read', operation } }, async (request, reply) => {
    const { tenantId } = callerOf(request);
    const tenant = await tenantDocument(vault, tenantId);
    // Authentication has found the tenant, so another request must have deleted it since then.
    if (tenant === null) throw new Problem('unauthenticated');
    return sendJson(reply, 200, tenantAnswer(tenantId, tenant));
  });
};
