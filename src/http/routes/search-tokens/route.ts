import { z } from 'zod';
import { searchTokens } from '../../../commands/tokens/search-tokens.js';
import { problemFrom } from '../../error-handler.js';
import { pageRoomBytes } from '../../load/room-bytes.js';
import { pageFields, rangeOf } from '../../pagination.js';
import { contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendTokenPage } from '../../send-token-page.js';
import { searchTokensOperation as operation } from './operation.js';

const fields = z.object(
  { query: z.string({ error: 'must be a string' }).nullish(), ...pageFields },
  { error: 'must be a JSON object' },
);

/** The body of a search; without one, which Fastify shows as null, everything is found. Unknown fields are ignored. */
const body = z.preprocess((given) => given ?? {}, fields);

/** `POST /tokens/search` (specification, "Search Tokens"). */
export const searchTokensRoute: Routes = (app, { vault }) => {
  app.post(
    '/tokens/search',
    {
      schema: { body },
      config: { permission: 'token:search', mediaType: 'application/json', roomBytes: pageRoomBytes, operation },
    },
    async (request, reply) => {
      const { query, ...page } = request.body;
      const result = await searchTokens(vault, contextOf(request), query ?? '', rangeOf(page));
      if (!result.ok) throw problemFrom(result);
      const { suggestions } = result.value;
      const besides = suggestions.length === 0 ? {} : { _suggestions: suggestions };
      return sendTokenPage(vault, request, reply, page, result.value, besides);
    },
  );
};
