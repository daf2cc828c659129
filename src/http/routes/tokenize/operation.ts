import { z } from 'zod';
import { documented } from '../../openapi/operation.js';
import { tokenExample } from '../../openapi/schemas/token-examples.js';

export const tokenizeOperation = documented({
  id: 'tokenize',
  tag: 'Tokenization',
  summary: 'Replace the values of any JSON by tokens',
  description:
    'Every object with `type` and `data` is a create request and is replaced by its token; every other string, number ' +
    'and boolean becomes a token and is replaced by its id. At most 100 tokens, all or none.',
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY'],
  requestExample: {
    name: 'Ada Lovelace',
    card: { type: 'card', data: { number: '4242424242424242' } },
    note: null,
  },
  answers: {
    200: {
      description: 'The same JSON with tokens in place of values.',
      schema: z.unknown(),
      example: { name: '8a1f4f0e-9a51-4c52-9b7d-0c5c0a4f6d0b', card: tokenExample, note: null },
    },
  },
  problems: [
    ...(['validation_failed', 'forbidden', 'id_in_use', 'idempotency_in_flight', 'idempotent_result_gone'] as const),
    ...(['idempotent_shape_differs', 'guesses_exhausted', 'deduplication_misses_exhausted'] as const),
  ],
});
