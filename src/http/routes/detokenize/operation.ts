import { z } from 'zod';
import { documented } from '../../openapi/operation.js';

export const detokenizeOperation = documented({
  id: 'detokenize',
  tag: 'Tokenization',
  summary: 'Put the values of tokens back into any JSON',
  description:
    'In every text `{{ <id> }}` becomes what the caller may see of the token, `{{ <id> | <filters> }}` what the filters ' +
    'make of that, and `{{ token: <id> }}` the token object, with `enrichments` on cards. At most 100 ids.',
  requestExample: {
    pan: "{{ f2d07b4a-5fd6-4dd0-93d9-2b5d5b0a3f4b | json: '$.number' }}",
    text: "card ending in {{ f2d07b4a-5fd6-4dd0-93d9-2b5d5b0a3f4b | json: '$.number' | last4 }}",
  },
  answers: {
    200: {
      description: 'The same JSON with values in place of expressions.',
      schema: z.unknown(),
      example: { pan: '4242424242424242', text: 'card ending in 4242' },
    },
  },
  problems: ['validation_failed', 'forbidden', 'guesses_exhausted'],
});
