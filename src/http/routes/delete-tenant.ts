import { deleteTenant } from '../../commands/tenancy/delete-tenant.js';
import { directoryContextOf } from '../directory-context.js';
import { problemFrom } from '../error-handler.js';
import { documented } from '../openapi/operation.js';
import type { Routes } from '../routes.js';
import { deleteTenantBody } from '../tenancy-body.js';

const operation = documented({
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

/**
 * `DELETE /tenants/self` (docs/contract.md, "Tenants"). The body must repeat the name of the tenant. If the response is
 * 503, repeating the request completes the deletion.
 */
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
