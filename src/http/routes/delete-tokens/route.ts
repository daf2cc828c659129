import { z } from 'zod';
import { deleteByIds } from '../../../commands/tokens/delete-by-ids.js';
import { Problem } from '../../problem.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';

const idsMax = 1_000;

const body = z.object(
  {
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
    { schema: { body }, config: { permission: 'token:delete', mediaType: 'application/json' } },
    async (request, reply) => {
      const { traceId } = request;
      const { ids } = request.body;
      if (ids == null) throw new Problem('validation_failed', { body: ['must hold query or ids'] });
      const deletion = await deleteByIds(vault, { caller: callerOf(request), traceId }, ids);
      return sendJson(reply, { ...deletion, remaining: 0 });
    },
  );
};
