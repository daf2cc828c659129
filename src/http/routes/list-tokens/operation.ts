import { z } from 'zod';
import { documented } from '../../openapi/operation.js';
import { tokenPage, tokenPageExample } from '../../openapi/schemas/token-page.js';
import { listTokensQuery } from './list-query.js';

export const listTokensOperation = documented({
  id: 'listTokens',
  tag: 'Tokens',
  summary: 'List tokens',
  description:
    'Filters are ANDed; repeats of `id` and of `type` are ORed. `metadata.<key>=<value>` compares without regard to case; ' +
    '`metadata` takes the same as one JSON object.',
  query: listTokensQuery.extend({ metadata: z.string().optional() }),
  answers: { 200: { description: 'What passes all filters.', schema: tokenPage, example: tokenPageExample } },
  problems: ['validation_failed'],
});
