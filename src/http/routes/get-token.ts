import { entityTag, namesRevision } from '../../commands/tokens/precondition.js';
import { getToken } from '../../queries/get-token.js';
import { release } from '../../queries/release.js';
import { documented } from '../openapi/operation.js';
import { tokenExample, tokenObject } from '../openapi/schemas/token.js';
import { callerOf, contextOf } from '../request-state.js';
import type { Routes, TokenParams } from '../routes.js';
import { sendToken } from '../send-token.js';

const operation = documented({
  id: 'getToken',
  tag: 'Tokens',
  summary: 'Get a token',
  description: 'Returns the token as the caller may see it: revealed, masked, or redacted (without `data`).',
  pathParameters: { id: 'The id of the token, percent-encoded.' },
  requestHeaders: ['If-None-Match'],
  answers: {
    200: { description: 'The token.', headers: ['ETag'], schema: tokenObject, example: tokenExample },
    304: { description: 'The token has the revision that If-None-Match names.', headers: ['ETag'] },
  },
  problems: ['forbidden', 'token_not_found'],
});

/**
 * `GET /tokens/{id}` (docs/contract.md, "Get a token"). No schema validates this most frequent read.
 */
export const getTokenRoute: Routes = (app, { vault }) => {
  app.get<{ Params: TokenParams }>(
    '/tokens/:id',
    { config: { permission: 'token:read', operation } },
    async (request, reply) => {
      const result = await getToken(vault, { caller: callerOf(request) }, request.params.id);
      // A store server that lost its leadership must not report that the token does not exist.
      if (!result.ok) await vault.confirmReads(request.beganAt, false);
      const known = request.headers['if-none-match'];
      if (result.ok && known !== undefined && namesRevision(known.replaceAll('W/', ''), result.value.revision)) {
        const { stream, revision } = result.value;
        await release(vault, contextOf(request), [{ stream, transform: 'redact' }]);
        return reply.code(304).header('cache-control', 'no-store').header('etag', entityTag(revision)).send();
      }
      return sendToken(vault, request, reply, result, 200);
    },
  );
};
