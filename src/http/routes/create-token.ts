import { createToken } from '../../commands/tokens/create-tokens.js';
import { idempotencyOf } from '../idempotency.js';
import { documented } from '../openapi/operation.js';
import { cardRequestExample, tokenExample, tokenObject } from '../openapi/schemas/token.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendToken } from '../send-token.js';
import { createTokenBody } from '../token-body.js';

const operation = documented({
  id: 'createToken',
  tag: 'Tokens',
  summary: 'Create a token',
  description:
    'Stores a value and returns the token that stands for it. If deduplication applies and a live token has the ' +
    'same fingerprint, that token is returned instead, and `_extras.deduplicated` is true.',
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY'],
  requestExample: cardRequestExample,
  answers: {
    201: {
      description: 'The new token, or the existing token with the same fingerprint.',
      headers: ['Location', 'ETag'],
      schema: tokenObject,
      example: tokenExample,
    },
  },
  problems: [
    'validation_failed',
    'forbidden',
    'token_not_found',
    'id_in_use',
    'idempotency_in_flight',
    'idempotent_result_gone',
    'guesses_exhausted',
    'deduplication_misses_exhausted',
  ],
});

/** `POST /tokens` (docs/contract.md, "Create a token"). */
export const createTokenRoute: Routes = (app, { vault }, headerNames) => {
  app.post(
    '/tokens',
    {
      schema: { body: createTokenBody },
      config: { permission: 'token:create', mediaType: 'application/json', operation },
    },
    async (request, reply) => {
      const { body } = request;
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, '/tokens');
      const result = await createToken(vault, { idempotency, ...contextOf(request) }, body);
      return sendToken(vault, request, reply, result, 201);
    },
  );
};
