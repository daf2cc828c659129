import { z } from 'zod';
import { searchSuggestions } from '../../../commands/vocabulary/search-suggestions.js';
import { codePointCount } from '../../../domain/text.js';
import { refuseMalformedQuery } from '../../refuse-malformed-query.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { searchSuggestionsOperation as operation } from './operation.js';

/** The longest container behind its field. */
const prefixMax = 210;

const querystring = z.object({
  prefix: z
    .string({ error: 'must be given at most once' })
    .refine((text) => codePointCount(text) <= prefixMax, { error: `must have at most ${prefixMax} characters` })
    .default('')
    .meta({ maxLength: prefixMax, description: 'What was typed of a term so far.' }),
});

/** `GET /tokens/search/suggestions` (contract, section 7). */
export const searchSuggestionsRoute: Routes = (app, { vault }) => {
  app.get(
    '/tokens/search/suggestions',
    { schema: { querystring }, config: { permission: 'token:search', operation } },
    async (request, reply) => {
      refuseMalformedQuery(request.url);
      const suggestions = await searchSuggestions(vault, { caller: callerOf(request) }, request.query.prefix);
      return sendJson(reply, 200, { suggestions });
    },
  );
};
