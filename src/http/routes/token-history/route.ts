import { z } from 'zod';
import { tokenHistory } from '../../../commands/tokens/token-history.js';
import { problemFrom } from '../../error-handler.js';
import { pageAnswer, pageQuery, rangeOf } from '../../pagination.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { tokenHistoryOperation as operation } from './operation.js';

/** `GET /tokens/{id}/history` (contract, section 10). */
export const tokenHistoryRoute: Routes = (app, { vault }) => {
  app.get(
    '/tokens/:id/history',
    {
      schema: { params: z.object({ id: z.string() }), querystring: z.object(pageQuery) },
      config: { permission: ['log:read', 'token:read'], operation },
    },
    async (request, reply) => {
      const { params, query } = request;
      const result = await tokenHistory(vault, callerOf(request), params.id, rangeOf(query));
      if (!result.ok) throw problemFrom(result);
      const { entries, total } = result.value;
      return sendJson(reply, 200, pageAnswer(query, total, entries));
    },
  );
};
