import { z } from 'zod';
import { deleteByIds } from '../../../commands/tokens/delete-by-ids.js';
import { deleteByQuery } from '../../../commands/tokens/delete-by-query.js';
import { grantsAnywhere } from '../../../domain/access/decide-access.js';
import { problemFrom } from '../../error-handler.js';
import { Problem, permissionMissing } from '../../problem.js';
import { contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { deleteTokensOperation as operation } from './operation.js';

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

/** `POST /tokens/delete`, for erasing everything of one person (contract, section 9). */
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
