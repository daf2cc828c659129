import { deleteToken } from '../../../commands/tokens/delete-token.js';
import { problemFrom } from '../../error-handler.js';
import { callerOf } from '../../request-state.js';
import type { Routes, TokenParams } from '../../routes.js';
import { deleteTokenOperation as operation } from './operation.js';

/** `DELETE /tokens/{id}` (specification, "Delete Token"). */
export const deleteTokenRoute: Routes = (app, { vault }) => {
  app.delete<{ Params: TokenParams }>(
    '/tokens/:id',
    { config: { permission: 'token:delete', operation } },
    async (request, reply) => {
      const { traceId, params, headers } = request;
      const context = { caller: callerOf(request), traceId };
      const result = await deleteToken(vault, context, params.id, headers['if-match'] ?? null);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
