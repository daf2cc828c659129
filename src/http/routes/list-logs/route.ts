import { readLog } from '../../../commands/access-log/read-log.js';
import { pageAnswer, rangeOf } from '../../pagination.js';
import { contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { entryBody } from './entry-body.js';
import { logFilterOf, logQuery } from './log-query.js';
import { listLogsOperation } from './operation.js';

/** `GET /logs` (contract, section 10): who did what, and never with which data. */
export const listLogsRoute: Routes = (app, { vault }) => {
  app.get(
    '/logs',
    { schema: { querystring: logQuery }, config: { permission: 'log:read', operation: listLogsOperation } },
    async (request, reply) => {
      const context = contextOf(request);
      const { total, entries } = await readLog(vault, context, logFilterOf(request.query), rangeOf(request.query));
      return sendJson(reply, 200, pageAnswer(request.query, total, entries.map(entryBody)));
    },
  );
};
