import { readLog } from '../../../commands/access-log/read-log.js';
import { pageBody, rangeOf } from '../../pagination.js';
import { Problem } from '../../problem.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { entryBody } from './entry-body.js';
import { parseLogQuery } from './parse-log-query.js';

/** `GET /logs` (contract, section 10): who did what, and never with which data. */
export const listLogsRoute: Routes = (app, { vault }) => {
  app.get('/logs', { config: { permission: 'log:read' } }, async (request, reply) => {
    const query = parseLogQuery(request.query as Readonly<Record<string, unknown>>);
    if (!query.ok) throw new Problem('validation_failed', query.errors);
    const { filter, page } = query.value;
    const context = { caller: callerOf(request), traceId: request.traceId };
    const { total, entries } = await readLog(vault, context, filter, rangeOf(page));
    return reply.header('cache-control', 'no-store').send(pageBody(page, total, entries.map(entryBody)));
  });
};
