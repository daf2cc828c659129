import { purgeCvc } from '../../../commands/tokens/purge-cvc.js';
import { problemFrom } from '../../error-handler.js';
import { callerOf } from '../../request-state.js';
import type { Routes, TokenParams } from '../../routes.js';
import { purgeCvcOperation as operation } from './operation.js';

/** `DELETE /tokens/{id}/cvc` (contract, section 8). */
export const purgeCvcRoute: Routes = (app, { vault }) => {
  app.delete<{ Params: TokenParams }>(
    '/tokens/:id/cvc',
    { config: { permission: 'token:update', operation } },
    async (request, reply) => {
      const { traceId, params, headers } = request;
      const context = { caller: callerOf(request), traceId };
      const result = await purgeCvc(vault, context, params.id, headers['if-match'] ?? null);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
