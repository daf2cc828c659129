import { z } from 'zod';
import { documented } from '../../openapi/operation.js';

const count = z.number().meta({ type: 'integer' });

export const deleteTokensOperation = documented({
  id: 'deleteTokens',
  tag: 'Tokens',
  summary: 'Delete many tokens by ids or by a query',
  description:
    'Give either `ids` or `query`, which needs `token:search` too. Up to 1,000 tokens a call; their keys are destroyed ' +
    'before the answer. Repeat a query until `remaining` is 0.',
  requestExample: { query: 'metadata.customer:c-17' },
  answers: {
    200: {
      description: 'How many tokens were deleted, may not be deleted by the caller, and are left for the next call.',
      schema: z.object({ deleted: count, refused: count, remaining: count }),
      example: { deleted: 3, refused: 0, remaining: 0 },
    },
  },
  problems: ['validation_failed', 'guesses_exhausted'],
});
