import { z } from 'zod';
import { updateToken } from '../../commands/tokens/update-token.js';
import { idempotencyOf } from '../idempotency.js';
import { documented } from '../openapi/operation.js';
import { tokenExample, tokenObject, unreadToken } from '../openapi/schemas/token.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendToken } from '../send-token.js';
import { updateTokenBody } from '../token-body.js';

const operation = documented({
  id: 'updateToken',
  tag: 'Tokens',
  summary: 'Update a token',
  description:
    'A JSON merge patch (RFC 7386) of `data`, `mask` and `metadata`; the other fields replace. Null resets a field ' +
    'to the default of the type. Replaced data is erased before the response.',
  pathParameters: { id: 'The id of the token, percent-encoded.' },
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY', 'If-Match'],
  requestExample: { metadata: { customer: 'c-18', note: null } },
  answers: {
    200: {
      description: 'The token as it is now, or another one that has the new fingerprint (deduplication).',
      headers: ['ETag'],
      schema: z.union([tokenObject, unreadToken]),
      example: tokenExample,
    },
  },
  problems: [
    ...(['validation_failed', 'forbidden', 'reveal_required', 'token_not_found', 'precondition_failed'] as const),
    ...([
      'idempotency_in_flight',
      'idempotent_result_gone',
      'guesses_exhausted',
      'deduplication_misses_exhausted',
    ] as const),
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
      const context = { ...contextOf(request), idempotency };
      const result = await updateToken(vault, context, params.id, body, headers['if-match'] ?? null);
      return sendToken(vault, request, reply, result, 200);
    },
  );
};
