import { listTokens } from '../../../commands/tokens/list-tokens.js';
import { pageRoomBytes } from '../../load/room-bytes.js';
import { rangeOf } from '../../pagination.js';
import { refuseMalformedQuery } from '../../refuse-malformed-query.js';
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
    {
      schema: { querystring: listTokensQuery },
      config: { permission: 'token:read', roomBytes: pageRoomBytes, operation },
    },
    async (request, reply) => {
      refuseMalformedQuery(request.url);
      const { query } = request;
      const found = await listTokens(vault, { caller: callerOf(request) }, listFiltersOf(query), rangeOf(query));
      return sendTokenPage(vault, request, reply, query, found);
    },
  );
};
