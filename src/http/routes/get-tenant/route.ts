import { tenantAnswer } from '../../../commands/directory/directory-answers.js';
import { tenantDocument } from '../../../commands/directory/open-directory.js';
import { Problem } from '../../problem.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { getTenantOperation as operation } from './operation.js';

/** `GET /tenants/self` (contract, section 10). */
export const getTenantRoute: Routes = (app, { vault }) => {
  app.get('/tenants/self', { config: { permission: 'tenant:read', operation } }, async (request, reply) => {
    const { tenantId } = callerOf(request);
    const tenant = await tenantDocument(vault, tenantId);
    // It was there a moment ago: deleted since.
    if (tenant === null) throw new Problem('unauthenticated');
    return sendJson(reply, 200, tenantAnswer(tenantId, tenant));
  });
};
