import { z } from 'zod';
import { updateToken } from '../../commands/tokens/update-token.js';
import { idempotencyOf } from '../idempotency.js';
import { documented } from '../openapi/operation.js';
import { tokenExample, tokenObject } from '../openapi/schemas/token.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendToken } from '../send-token.js';
import { updateTokenBody } from '../token-body.js';

const operation = documented({
  id: 'updateToken',
  tag: 'Tokens',
  summary: 'Update a token',
  description:
    'Applies a JSON merge patch (RFC 7386) to `data`, `mask` and `metadata`, and replaces the other fields. Null ' +
    'resets `mask`, `containers`, `search_indexes` and `fingerprint_expression` to the defaults of the type, clears ' +
    '`metadata`, and removes `expires_at`. Replaced data is erased before the response is sent, unless the tenant ' +
    'sets `keep_superseded_data`.',
  pathParameters: { id: 'The id of the token, percent-encoded.' },
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY', 'If-Match'],
  requestExample: { metadata: { customer: 'c-18', note: null } },
  answers: {
    200: {
      description: 'The updated token or, with deduplication, the other token that already has the new fingerprint.',
      headers: ['ETag'],
      schema: tokenObject,
      example: tokenExample,
    },
  },
  problems: [
    'validation_failed',
    'forbidden',
    'reveal_required',
    'token_not_found',
    'precondition_failed',
    'idempotency_in_flight',
    'idempotent_result_gone',
    'guesses_exhausted',
    'deduplication_misses_exhausted',
  ],
});

/** `PATCH /tokens/{id}` (docs/contract.md, "Update a token"; RFC 7386). */
export const updateTokenRoute: Routes = (app, { vault }, headerNames) => {
  app.patch(
    '/tokens/:id',
    {
      schema: { params: z.object({ id: z.string() }), body: updateTokenBody },
      config: { permission: 'token:update', mediaType: 'application/merge-patch+json', operation },
    },
    async (request, reply) => {
      const { params, body, headers } = request;
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, `/tokens/${params.id}`);
      const context = { idempotency, ...contextOf(request) };
      const result = await updateToken(vault, context, params.id, body, headers['if-match'] ?? null);
      return sendToken(vault, request, reply, result, 200);
    },
  );
};
