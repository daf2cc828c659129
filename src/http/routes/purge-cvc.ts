import { purgeCvc } from '../../commands/tokens/purge-cvc.js';
import { documented } from '../openapi/operation.js';
import { problemFrom } from '../problem/problem.js';
import { contextOf } from '../request-state.js';
import type { IdParams, Routes } from '../routes.js';

const operation = documented({
  id: 'purgeCvc',
  tag: 'Tokens',
  summary: 'Purge the verification code of a card',
  description:
    'Deletes the verification code immediately. Use this operation right after an authorization. It succeeds even ' +
    'if no code is stored.',
  pathParameters: { id: 'The id of a card token, percent-encoded.' },
  requestHeaders: ['If-Match'],
  answers: { 204: { description: 'No verification code is stored for this card.' } },
  problems: ['validation_failed', 'forbidden', 'token_not_found', 'precondition_failed'],
});

/** `DELETE /tokens/{id}/cvc` (docs/contract.md, "Purge a cvc"). */
export const purgeCvcRoute: Routes = (app, { vault }) => {
  app.delete<{ Params: IdParams }>(
    '/tokens/:id/cvc',
    { config: { permission: 'token:update', operation } },
    async (request, reply) => {
      const { params, headers } = request;
      const result = await purgeCvc(vault, contextOf(request), params.id, headers['if-match'] ?? null);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
