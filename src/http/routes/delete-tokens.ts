import { z } from 'zod';
import { deleteByIds } from '../../commands/tokens/delete-by-ids.js';
import { deleteByQuery } from '../../commands/tokens/delete-by-query.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { problemFrom } from '../error-handler.js';
import { documented } from '../openapi/operation.js';
import { Problem, permissionMissing } from '../problem/problem.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const count = z.number().meta({ type: 'integer' });

const operation = documented({
  id: 'deleteTokens',
  tag: 'Tokens',
  summary: 'Delete many tokens by ids or by a query',
  description:
    'Give either `ids` or `query`, which needs `token:search` too. Up to 1,000 tokens a call; their keys are destroyed ' +
    'before the response. Repeat a query until `remaining` is 0.',
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

const idsMax = 1_000;

const body = z.object(
  {
    query: z.string({ error: 'must be a string' }).nullish(),
    ids: z
      .array(z.string({ error: 'must be a string' }), { error: 'must be an array of ids' })
      .max(idsMax, { error: `must hold at most ${idsMax} ids` })
      .nullish(),
  },
  { error: 'must be a JSON object' },
);

/** `POST /tokens/delete` erases all tokens of one person (docs/contract.md, "Delete many tokens"). */
export const deleteTokensRoute: Routes = (app, { vault }) => {
  app.post(
    '/tokens/delete',
    { schema: { body }, config: { permission: 'token:delete', mediaType: 'application/json', operation } },
    async (request, reply) => {
      const context = contextOf(request);
      const { ids, query } = request.body;
      if (typeof query === 'string' && ids == null) {
        if (!grantsAnywhere(context.caller, 'token:search')) throw permissionMissing(['token:search']);
        const result = await deleteByQuery(vault, context, query);
        if (!result.ok) throw problemFrom(result);
        return sendJson(reply, 200, result.value);
      }
      if (ids == null || query != null) {
        throw new Problem('validation_failed', { body: ['must hold either query or ids'] });
      }
      const result = await deleteByIds(vault, context, ids);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, result.value);
    },
  );
};
