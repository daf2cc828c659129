import { listTokens } from '../../../commands/tokens/list-tokens.js';
import { pageOfQueryString } from '../../page-of-query-string.js';
import { queryStringOf } from '../../query-string.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendTokenPage } from '../../send-token-page.js';
import { listFiltersOf } from './list-filters.js';

/** `GET /tokens` (specification, "List Tokens"). */
export const listTokensRoute: Routes = (app, { vault }) => {
  app.get('/tokens', { config: { permission: 'token:read' } }, async (request, reply) => {
    const query = queryStringOf(request);
    const page = pageOfQueryString(query);
    return sendTokenPage(reply, await listTokens(vault, { caller: callerOf(request) }, listFiltersOf(query), page));
  });
};
