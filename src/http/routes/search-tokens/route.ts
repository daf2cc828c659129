import { z } from 'zod';
import { searchTokens } from '../../../commands/tokens/search-tokens.js';
import { problemFrom } from '../../error-handler.js';
import { pageLimits, pageMessages } from '../../page-limits.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendTokenPage } from '../../send-token-page.js';

const page = { error: pageMessages.page };
const size = { error: pageMessages.size };

/** The body of a search; without one, which Fastify shows as null, everything is found. Unknown fields are ignored. */
const body = z
  .object(
    {
      query: z.string({ error: 'must be a string' }).nullish(),
      page: z.int(page).min(1, page).nullish(),
      size: z.int(size).min(1, size).max(pageLimits.sizeMax, size).nullish(),
    },
    { error: 'must be a JSON object' },
  )
  .nullish();

/** `POST /tokens/search` (specification, "Search Tokens"). */
export const searchTokensRoute: Routes = (app, { vault }) => {
  app.post(
    '/tokens/search',
    { schema: { body }, config: { permission: 'token:search', mediaType: 'application/json' } },
    async (request, reply) => {
      const { query, page, size } = request.body ?? {};
      const wanted = { page: page ?? pageLimits.default.page, size: size ?? pageLimits.default.size };
      const result = await searchTokens(vault, { caller: callerOf(request) }, query ?? '', wanted);
      if (!result.ok) throw problemFrom(result);
      return sendTokenPage(reply, result.value);
    },
  );
};
