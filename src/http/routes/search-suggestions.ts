import { z } from 'zod';
import { codePointCount } from '../../domain/text.js';
import { searchSuggestions } from '../../queries/vocabulary/visible-words-of.js';
import { documented } from '../openapi/operation.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

const suggestion = z.object({
  text: z.string().meta({ description: 'The text that replaces the prefix.' }),
  kind: z.enum(['field', 'type', 'metadata_key', 'container']).meta({ description: 'What the text names.' }),
});

const suggestions = z
  .object({ suggestions: z.array(suggestion).max(20).meta({ description: 'The suggestions, best first.' }) })
  .meta({ id: 'SearchSuggestions', description: 'Completions for a term of a query.' });

const operation = documented({
  id: 'searchSuggestions',
  tag: 'Search',
  summary: 'Complete a term of a query',
  description:
    'Returns the fields, types, metadata keys and containers that begin with a prefix, or the closest matches if ' +
    'none do. After `type:`, `container:` or `metadata.`, it returns only suggestions of that kind. Metadata keys ' +
    'and containers may be up to ten minutes out of date. A caller that may not search all containers gets the ' +
    'containers of its own rules instead.',
  answers: {
    200: {
      description: 'At most 20 suggestions.',
      schema: suggestions,
      example: {
        suggestions: [
          { text: 'card', kind: 'type' },
          { text: 'metadata.cart', kind: 'metadata_key' },
        ],
      },
    },
  },
  problems: ['validation_failed'],
});

/** The maximum length of a prefix: the longest possible container path with the field name in front of it. */
const prefixMax = 210;

const querystring = z.object({
  prefix: z
    .string({ error: 'must be given at most once' })
    .refine((text) => codePointCount(text) <= prefixMax, { error: `must have at most ${prefixMax} characters` })
    .default('')
    .meta({ maxLength: prefixMax, description: 'The beginning of a term, as typed so far. Default: empty.' }),
});

/** `GET /tokens/search/suggestions` (docs/contract.md, "Suggestions"). */
export const searchSuggestionsRoute: Routes = (app, { vault }) => {
  app.get(
    '/tokens/search/suggestions',
    { schema: { querystring }, config: { permission: 'token:search', operation } },
    async (request, reply) => {
      const suggestions = await searchSuggestions(vault, contextOf(request), request.query.prefix);
      return sendJson(reply, 200, { suggestions });
    },
  );
};
