import { z } from 'zod';
import { documented } from '../../openapi/operation.js';
import { tokenExample } from '../../openapi/schemas/token-examples.js';
import { tokenObject, unreadToken } from '../../openapi/schemas/token-object.js';

export const updateTokenOperation = documented({
  id: 'updateToken',
  tag: 'Tokens',
  summary: 'Update a token',
  description:
    'A JSON merge patch (RFC 7386) of `data`, `mask` and `metadata`; the other fields replace. Null takes a field back ' +
    'to the default of the type. Data that is replaced is erased before the answer.',
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
