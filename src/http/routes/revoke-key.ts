import { revokeKey } from '../../commands/tenancy/api-keys.js';
import { directoryContextOf } from '../directory-context.js';
import { problemFrom } from '../error-handler.js';
import { documented } from '../openapi/operation.js';
import type { IdParams, Routes } from '../routes.js';

const operation = documented({
  id: 'revokeKey',
  tag: 'Applications',
  summary: 'Revoke a key',
  description: 'Revokes the key. It stops working immediately.',
  pathParameters: { id: 'The id of the application.', keyId: 'The id of the key, not the key itself.' },
  answers: { 204: { description: 'The key no longer works.' } },
  problems: ['exceeds_own_permissions', 'application_not_found', 'application_key_not_found', 'last_administrator'],
});

type Params = IdParams & { readonly keyId: string };

/** `DELETE /applications/{id}/keys/{key_id}` (docs/contract.md, "API keys"). The key stops working immediately. */
export const revokeKeyRoute: Routes = (app, { vault }) => {
  app.delete<{ Params: Params }>(
    '/applications/:id/keys/:keyId',
    { config: { permission: 'application:delete', operation } },
    async (request, reply) => {
      const { id, keyId } = request.params;
      const result = await revokeKey(vault, directoryContextOf(request), id, keyId);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
