import { revokeKey } from '../../../commands/directory/revoke-key.js';
import { directoryContextOf } from '../../directory-context.js';
import { problemFrom } from '../../error-handler.js';
import type { ApplicationParams, Routes } from '../../routes.js';
import { revokeKeyOperation as operation } from './operation.js';

type Params = ApplicationParams & { readonly keyId: string };

/** `DELETE /applications/{id}/keys/{key_id}` (contract, section 10): the key stops at once. */
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
