import { z } from 'zod';
import { documented } from '../../openapi/operation.js';
import { cardRequestExample, tokenExample } from '../../openapi/schemas/token-examples.js';
import { tokenObject, unreadToken } from '../../openapi/schemas/token-object.js';

export const createTokenOperation = documented({
  id: 'createToken',
  tag: 'Tokens',
  summary: 'Create a token',
  description:
    'Stores a value and answers with the token that stands for it. With deduplication in force, a living token of the ' +
    'same fingerprint is returned instead, and `_extras.deduplicated` says so.',
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY'],
  requestExample: cardRequestExample,
  answers: {
    201: {
      description: 'The token, or the equal one that was there already.',
      headers: ['Location', 'ETag'],
      schema: z.union([tokenObject, unreadToken]),
      example: tokenExample,
    },
  },
  problems: [
    ...(['validation_failed', 'forbidden', 'id_in_use', 'idempotency_in_flight', 'idempotent_result_gone'] as const),
    ...(['guesses_exhausted', 'deduplication_misses_exhausted'] as const),
  ],
});
