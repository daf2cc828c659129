import { deleteTenant } from '../../../commands/directory/delete-tenant.js';
import { deleteTenantBody } from '../../directory-body.js';
import { directoryContextOf } from '../../directory-context.js';
import { problemFrom } from '../../error-handler.js';
import type { Routes } from '../../routes.js';
import { deleteTenantOperation as operation } from './operation.js';

/** `DELETE /tenants/self` (contract, section 10): the body repeats the name. The repeat of a 503 finishes it. */
export const deleteTenantRoute: Routes = (app, { vault }) => {
  app.delete(
    '/tenants/self',
    {
      schema: { body: deleteTenantBody },
      config: { permission: 'tenant:delete', mediaType: 'application/json', finishesTenantDeletion: true, operation },
    },
    async (request, reply) => {
      const result = await deleteTenant(vault, directoryContextOf(request), request.body.name);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
