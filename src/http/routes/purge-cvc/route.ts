import { purgeCvc } from '../../../commands/tokens/purge-cvc.js';
import { problemFrom } from '../../error-handler.js';
import { callerOf } from '../../request-state.js';
import type { Routes, TokenParams } from '../../routes.js';

/** `DELETE /tokens/{id}/cvc` (contract, section 8). */
export const purgeCvcRoute: Routes = (app, { vault }) => {
  app.delete<{ Params: TokenParams }>(
    '/tokens/:id/cvc',
    { config: { permission: 'token:update' } },
    async (request, reply) => {
      const { traceId, params } = request;
      const result = await purgeCvc(vault, { caller: callerOf(request), traceId }, params.id);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
