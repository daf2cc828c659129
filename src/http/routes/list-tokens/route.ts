import { listTokens } from '../../../commands/tokens/list-tokens.js';
import { rangeOf } from '../../pagination.js';
import { Problem } from '../../problem.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendTokenPage } from '../../send-token-page.js';
import { listFiltersOf } from './list-filters.js';
import { listTokensQuery } from './list-query.js';
import { listTokensOperation as operation } from './operation.js';

/** `GET /tokens` (specification, "List Tokens"). */
export const listTokensRoute: Routes = (app, { vault }) => {
  app.get(
    '/tokens',
    { schema: { querystring: listTokensQuery }, config: { permission: 'token:read', operation } },
    async (request, reply) => {
      refuseMalformed(request.url);
      const { query } = request;
      const found = await listTokens(vault, { caller: callerOf(request) }, listFiltersOf(query), rangeOf(query));
      return sendTokenPage(vault, request, reply, query, found);
    },
  );
};

/** The parser of query strings takes what is no percent-encoded UTF-8 as it stands; here it would filter. */
function refuseMalformed(url: string): void {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw new Problem('malformed_request');
  }
}
