import { z } from 'zod';
import { searchTokens } from '../../queries/offset-pages.js';
import { anObject, text } from '../body/body-fields.js';
import { pageMemoryBytes } from '../load/memory-budget.js';
import { documented } from '../openapi/operation.js';
import { foundPage, tokenPageExample } from '../openapi/schemas/token.js';
import { pageFields, paginationOf, rangeOf } from '../pagination.js';
import { problemFrom } from '../problem/problem.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendTokenPage } from '../send-token-page.js';

const operation = documented({
  id: 'searchTokens',
  tag: 'Search',
  summary: 'Search tokens',
  description:
    'A query consists of `field:value` terms, joined by AND, OR, NOT (also `!` and `-`) and parentheses. Fields: ' +
    'id, type, data, fingerprint, container, metadata.<key>, created_by, created_at, modified_by, modified_at. An ' +
    'empty query finds every token that the caller may see.',
  requestExample: { query: 'type:card AND container:/pci/* AND metadata.customer:c-17', page: 1, size: 20 },
  answers: {
    200: { description: 'A page of the tokens that the search found.', schema: foundPage, example: tokenPageExample },
  },
  problems: ['validation_failed', 'guesses_exhausted'],
});

/** The field of a body that contains a search query. */
export const queryField = text
  .nullish()
  .meta({ description: 'The search query. Without it, the search finds every token that the caller may see.' });

const fields = z.object(
  {
    query: queryField,
    ...pageFields,
  },
  anObject,
);

/**
 * The body of a search. If the body is missing, which Fastify represents as null, the search finds all tokens. Unknown
 * fields are ignored.
 */
const body = z.preprocess((given) => given ?? {}, fields);

/** `POST /tokens/search` (docs/contract.md, "Search tokens"). */
export const searchTokensRoute: Routes = (app, { vault }) => {
  app.post(
    '/tokens/search',
    {
      schema: { body },
      config: { permission: 'token:search', mediaType: 'application/json', memoryBytes: pageMemoryBytes, operation },
    },
    async (request, reply) => {
      const { body: asked } = request;
      const result = await searchTokens(vault, contextOf(request), asked.query ?? '', rangeOf(asked));
      if (!result.ok) throw problemFrom(result);
      const { suggestions } = result.value;
      const besides = suggestions.length === 0 ? {} : { _suggestions: suggestions };
      return sendTokenPage(vault, request, reply, paginationOf(asked, result.value.total), result.value, besides);
    },
  );
};
