import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, weaklyNamesRevision } from '../../domain/token/entity-tag.js';
import { after, type Maybe } from '../../ports/maybe.js';
import { getToken } from '../../queries/get-token.js';
import { type ReleaseDeps, release } from '../../queries/release.js';
import type { TokenAnswer } from '../../queries/token-answer.js';
import { documented } from '../openapi/operation.js';
import { tokenExample, tokenObject } from '../openapi/schemas/token.js';
import { contextOf } from '../request-state.js';
import type { IdParams, Routes } from '../routes.js';
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
    304: { description: 'The token still has the revision that If-None-Match names.', headers: ['ETag'] },
  },
  problems: ['forbidden', 'token_not_found'],
});

/**
 * `GET /tokens/{id}` (docs/contract.md, "Get a token"). This is the most frequent read. To make it fast, the route has
 * no schema.
 */
export const getTokenRoute: Routes = (app, { vault }) => {
  app.get<{ Params: IdParams }>('/tokens/:id', { config: { permission: 'token:read', operation } }, (request, reply) =>
    after(getToken(vault, contextOf(request), request.params.id), (result) =>
      result.ok && isKnown(request, result.value)
        ? sendUnchanged(vault, request, reply, result.value)
        : sendToken(vault, request, reply, result, 200),
    ),
  );
};

function isKnown({ headers }: FastifyRequest, { revision }: TokenAnswer): boolean {
  const known = headers['if-none-match'];
  return known !== undefined && weaklyNamesRevision(known, revision);
}

function sendUnchanged(
  vault: ReleaseDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { stream, revision }: TokenAnswer,
): Maybe<FastifyReply> {
  return after(release(vault, contextOf(request), [{ stream, transform: 'redact', recordedAs: 'read' }]), () =>
    reply.code(304).header('cache-control', 'no-store').header('etag', entityTag(revision)).send(),
  );
}
