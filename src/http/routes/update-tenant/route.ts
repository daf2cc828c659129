import { tenantAnswer } from '../../../commands/directory/directory-answers.js';
import { updateTenant } from '../../../commands/directory/update-tenant.js';
import { updateTenantBody } from '../../directory-body.js';
import { directoryContextOf } from '../../directory-context.js';
import { problemFrom } from '../../error-handler.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { updateTenantOperation as operation } from './operation.js';

/** `PUT /tenants/self` (contract, section 10). */
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
