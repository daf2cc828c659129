import { z } from 'zod';
import { deleteByIds } from '../../commands/tokens/delete-by-ids.js';
import { deleteByQuery } from '../../commands/tokens/delete-by-query.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { anObject, text } from '../body/body-fields.js';
import { documented } from '../openapi/operation.js';
import { wholeNumber } from '../openapi/schemas/formats.js';
import { Problem, permissionMissing, problemFrom } from '../problem/problem.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const operation = documented({
  id: 'deleteTokens',
  tag: 'Tokens',
  summary: 'Delete many tokens by id or by query',
  description:
    'Deletes the tokens that `ids` lists or that `query` finds. `query` also requires `token:search`. One call ' +
    'deletes up to 1,000 tokens and destroys their keys before it responds. Repeat a call with a query until ' +
    '`remaining` is 0.',
  requestExample: { query: 'metadata.customer:c-17' },
  answers: {
    200: {
      description: 'The numbers of tokens that were deleted, were refused, and remain for the next call.',
      schema: z.object({
        deleted: wholeNumber('The number of tokens that this call deleted.'),
        refused: wholeNumber('The number of tokens that the caller’s rules do not allow it to delete.'),
        remaining: wholeNumber('The number of tokens that another call would delete. Repeat the call until it is 0.'),
      }),
      example: { deleted: 3, refused: 0, remaining: 0 },
    },
  },
  problems: ['validation_failed', 'guesses_exhausted'],
});

const idsMax = 1_000;

const body = z.object(
  {
    query: text.nullish().meta({
      description: 'A search query. Up to 1,000 of its tokens are deleted, newest first. Send either `query` or `ids`.',
    }),
    ids: z
      .array(text, { error: 'must be an array of ids' })
      .max(idsMax, { error: `must contain at most ${idsMax} ids` })
      .nullish()
      .meta({
        description: `The ids of up to ${idsMax} tokens. Unknown ids are skipped. Send either \`ids\` or \`query\`.`,
      }),
  },
  anObject,
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
        throw new Problem('validation_failed', { errors: { body: ['must contain either query or ids'] } });
      }
      const result = await deleteByIds(vault, context, ids);
      if (!result.ok) throw problemFrom(result);
      return sendJson(reply, 200, result.value);
    },
  );
};
