import { deleteToken } from '../../commands/tokens/delete-token.js';
import { documented } from '../openapi/operation.js';
import { problemFrom } from '../problem/problem.js';
import { contextOf } from '../request-state.js';
import type { IdParams, Routes } from '../routes.js';

const operation = documented({
  id: 'deleteToken',
  tag: 'Tokens',
  summary: 'Delete a token',
  description:
    'Deletes and erases the token. A 204 means that its keys have been destroyed. After a 503, send the same ' +
    'request again to finish the deletion.',
  pathParameters: { id: 'The id of the token, percent-encoded.' },
  requestHeaders: ['If-Match'],
  answers: { 204: { description: 'The token is erased.' } },
  problems: ['forbidden', 'token_not_found', 'precondition_failed'],
});

/** `DELETE /tokens/{id}` (docs/contract.md, "Delete a token"). */
export const deleteTokenRoute: Routes = (app, { vault }) => {
  app.delete<{ Params: IdParams }>(
    '/tokens/:id',
    { config: { permission: 'token:delete', operation } },
    async (request, reply) => {
      const { params, headers } = request;
      const result = await deleteToken(vault, contextOf(request), params.id, headers['if-match'] ?? null);
      if (!result.ok) throw problemFrom(result);
      return reply.code(204).send();
    },
  );
};
