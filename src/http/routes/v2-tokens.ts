import { z } from 'zod';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { listTokensPage, searchTokensPage } from '../../queries/cursor-pages.js';
import { anObject, text } from '../body/body-fields.js';
import { pageMemoryBytes } from '../load/memory-budget.js';
import { documented } from '../openapi/operation.js';
import { tokenStep, tokenStepExample } from '../openapi/schemas/token.js';
import { pageFields, pageQuery } from '../pagination.js';
import { Problem, problemFrom } from '../problem/problem.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendTokenPage } from '../send-token-page.js';
import { documentedMetadata, metadataOf } from './list-tokens.js';
import { queryField } from './search-tokens.js';

const once = z.string({ error: 'must be given at most once' }).optional();

const listQueryString = z.looseObject({
  type: once,
  container: once,
  fingerprint: once,
  start: once,
  size: pageQuery.size,
});

const startDescription =
  'The `next` cursor from the previous page of the same request. If absent, the first page is returned.';

/** The query string in the form that the OpenAPI document describes. */
const documentedQuery = z.object({
  type: z.enum(tokenTypes).optional().meta({ description: 'Returns only tokens of this type.' }),
  container: z.string().optional().meta({ description: 'Returns only tokens in this container, not in its children.' }),
  fingerprint: z.string().optional().meta({ description: 'Returns only tokens with this fingerprint.' }),
  ...documentedMetadata,
  start: z.string().optional().meta({ description: startDescription }),
  size: pageQuery.size,
});

const listOperation = documented({
  id: 'listTokensV2',
  tag: 'Tokens',
  summary: 'List tokens with a cursor',
  description:
    'Returns the tokens that match all filters, newest first. A client that follows `next` from page to page gets ' +
    'every token that exists throughout exactly once, regardless of what is created or deleted in the meantime.',
  query: documentedQuery,
  answers: { 200: { description: 'A page of tokens, newest first.', schema: tokenStep, example: tokenStepExample } },
  problems: ['validation_failed', 'guesses_exhausted'],
});

const searchOperation = documented({
  id: 'searchTokensV2',
  tag: 'Search',
  summary: 'Search tokens with a cursor',
  description:
    'Accepts the same queries as `POST /tokens/search`. A client that follows `next` from page to page gets no ' +
    'token twice and misses none.',
  requestExample: { query: 'type:card AND container:/pci/*', size: 20 },
  answers: { 200: { description: 'A page of tokens, newest first.', schema: tokenStep, example: tokenStepExample } },
  problems: ['validation_failed', 'guesses_exhausted'],
});

const fields = z.object(
  {
    query: queryField,
    start: text.nullish().meta({ description: startDescription }),
    size: pageFields.size,
  },
  anObject,
);
const body = z.preprocess((given) => given ?? {}, fields);

/** `GET /v2/tokens` and `POST /v2/tokens/search` (docs/contract.md, "Cursor pagination"). */
export const tokensV2Routes: Routes = (app, { vault }) => {
  app.get(
    '/v2/tokens',
    {
      schema: { querystring: listQueryString },
      config: { permission: 'token:read', memoryBytes: pageMemoryBytes, operation: listOperation },
    },
    async (request, reply) => {
      const { type, container = null, fingerprint = null, start = null, size } = request.query;
      if (container !== null && !/^\/(.*\/)?$/.test(container)) {
        throw new Problem('validation_failed', { errors: { container: ['must start and end with /'] } });
      }
      const filters = {
        ids: null,
        types: type === undefined ? null : [type],
        metadata: Object.entries(request.query).flatMap(([name, value]) => metadataOf(name, value)),
        container,
        fingerprint,
      };
      const result = await listTokensPage(vault, contextOf(request), filters, { start, size });
      if (!result.ok) throw problemFrom(result);
      const { tokens, rest, next } = result.value;
      return sendTokenPage(vault, request, reply, { page_size: size, next }, { tokens, rest });
    },
  );
  app.post(
    '/v2/tokens/search',
    {
      schema: { body },
      config: {
        permission: 'token:search',
        mediaType: 'application/json',
        memoryBytes: pageMemoryBytes,
        operation: searchOperation,
      },
    },
    async (request, reply) => {
      const { query, start, size } = request.body;
      const result = await searchTokensPage(vault, contextOf(request), query ?? '', { start: start ?? null, size });
      if (!result.ok) throw problemFrom(result);
      const { tokens, rest, next } = result.value;
      return sendTokenPage(vault, request, reply, { page_size: size, next }, { tokens, rest });
    },
  );
};
