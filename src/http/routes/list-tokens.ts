import { z } from 'zod';
import { type ListFilters, listTokens } from '../../queries/list-tokens.js';
import { pageRoomBytes } from '../load/room-bytes.js';
import { documented } from '../openapi/operation.js';
import { tokenPage, tokenPageExample } from '../openapi/schemas/token.js';
import { pageQuery, paginationOf, rangeOf } from '../pagination.js';
import { Problem } from '../problem/problem.js';
import { refuseMalformedQuery } from '../refuse-malformed-query.js';
import { callerOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendTokenPage } from '../send-token-page.js';

/** A query parameter with one or several values. */
const values = z.union([z.string(), z.array(z.string())]).optional();

/** The query string. The schema is loose because each metadata filter has its own parameter name. */
const listTokensQuery = z.looseObject({ ...pageQuery, id: values, type: values });

type ListTokensQuery = z.output<typeof listTokensQuery>;

const operation = documented({
  id: 'listTokens',
  tag: 'Tokens',
  summary: 'List tokens',
  description:
    'Filters are ANDed; repeats of `id` and of `type` are ORed. `metadata.<key>=<value>` compares without regard to case; ' +
    '`metadata` takes the same as one JSON object.',
  query: listTokensQuery.extend({ metadata: z.string().optional() }),
  answers: { 200: { description: 'What passes all filters.', schema: tokenPage, example: tokenPageExample } },
  problems: ['validation_failed'],
});

/** `GET /tokens` (docs/contract.md, "List tokens"). */
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
      return sendTokenPage(vault, request, reply, paginationOf(query, found.total), found);
    },
  );
};

const metadataPrefix = 'metadata.';

/** Returns the filters: `id` and `type`, which may repeat, `metadata.<key>`, and `metadata` as one JSON object. */
function listFiltersOf(query: ListTokensQuery): ListFilters {
  return {
    ids: query.id === undefined ? null : [query.id].flat(),
    types: query.type === undefined ? null : [query.type].flat(),
    metadata: Object.entries(query).flatMap(([name, value]) => metadataOf(name, value)),
  };
}

/** Returns the metadata filters of one parameter. Only the first of repeated parameters counts. */
export function metadataOf(name: string, value: unknown): (readonly [string, string])[] {
  const [first = ''] = [value].flat().map(String);
  if (name === 'metadata') return entriesOf(first);
  return name.startsWith(metadataPrefix) ? [[name.slice(metadataPrefix.length), first]] : [];
}

function entriesOf(text: string): (readonly [string, string])[] {
  const parsed = parse(text);
  const entries = Object.entries(parsed ?? {});
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (parsed === null || texts.length < entries.length) {
    throw new Problem('validation_failed', { metadata: ['must be a JSON object whose values are strings'] });
  }
  return texts;
}

function parse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
