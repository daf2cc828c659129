import { z } from 'zod';
import { printableKey } from '../../domain/json-path.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { type ListFilters, listTokens } from '../../queries/offset-pages.js';
import { pageMemoryBytes } from '../load/memory-budget.js';
import { documented } from '../openapi/operation.js';
import { tokenPage, tokenPageExample } from '../openapi/schemas/token.js';
import { pageQuery, paginationOf, rangeOf } from '../pagination.js';
import { Problem } from '../problem/problem.js';
import { contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendTokenPage } from '../send-token-page.js';

/** A query parameter with one or more values. */
const values = z.union([z.string(), z.array(z.string())]).optional();

/**
 * The query string. The schema allows unknown parameters, because the name of a metadata filter contains the metadata
 * key.
 */
const listTokensQuery = z.looseObject({ ...pageQuery, id: values, type: values });

type ListTokensQuery = z.output<typeof listTokensQuery>;

/**
 * The metadata filters for listing tokens, in the form that the OpenAPI document describes. A parameter
 * `metadata.<key>` has no fixed name, so the document describes an object instead. Clients send each member of this
 * object as a separate parameter (docs/adr/0050-the-openapi-document-is-for-generators.md).
 */
export const documentedMetadata = {
  metadata_filter: z
    .record(z.string().regex(/^metadata\../), z.string())
    .optional()
    .meta({
      description:
        'Filters by metadata. Each member is sent as a separate parameter, `metadata.<key>=<value>`, so the name ' +
        'of a member is `metadata.` followed by the key. The name of this object is not sent.',
      style: 'form',
      explode: true,
    }),
  // The document describes this parameter as a string and not as JSON content. A generator that ignores the content
  // type would otherwise send each member of the JSON object as a separate parameter.
  metadata: z.string().optional().meta({
    description: 'The same filters as a JSON string: an object that maps metadata keys to values.',
    contentMediaType: 'application/json',
  }),
};

/** The query string in the form that the OpenAPI document describes. */
const documentedQuery = z.object({
  ...pageQuery,
  id: z.array(z.string()).optional().meta({ description: 'Returns only tokens with one of these ids.' }),
  type: z.array(z.enum(tokenTypes)).optional().meta({ description: 'Returns only tokens of these types.' }),
  ...documentedMetadata,
});

const operation = documented({
  id: 'listTokens',
  tag: 'Tokens',
  summary: 'List tokens',
  description:
    'Returns the tokens that match all filters, newest first. If `id` or `type` is repeated, any of its values ' +
    'matches. Metadata values are compared as a whole, regardless of case. Any other parameter that begins with ' +
    '`metadata` returns 400.',
  query: documentedQuery,
  answers: { 200: { description: 'A page of tokens.', schema: tokenPage, example: tokenPageExample } },
  problems: ['validation_failed'],
});

/** `GET /tokens` (docs/contract.md, "List tokens"). */
export const listTokensRoute: Routes = (app, { vault }) => {
  app.get(
    '/tokens',
    {
      schema: { querystring: listTokensQuery },
      config: { permission: 'token:read', memoryBytes: pageMemoryBytes, operation },
    },
    async (request, reply) => {
      const { query } = request;
      const found = await listTokens(vault, contextOf(request), listFiltersOf(query), rangeOf(query));
      return sendTokenPage(vault, request, reply, paginationOf(query, found.total), found);
    },
  );
};

const metadataPrefix = 'metadata.';

/**
 * Returns the filters of a request. `id` and `type` may be repeated. The metadata filters are either parameters named
 * `metadata.<key>` or one JSON object in `metadata`.
 */
function listFiltersOf(query: ListTokensQuery): ListFilters {
  return {
    ids: query.id === undefined ? null : [query.id].flat(),
    types: query.type === undefined ? null : [query.type].flat(),
    metadata: Object.entries(query).flatMap(([name, value]) => metadataOf(name, value)),
  };
}

/** Returns the metadata filters in one parameter. If the parameter is repeated, uses only the first value. */
export function metadataOf(name: string, value: unknown): (readonly [string, string])[] {
  const [first = ''] = [value].flat().map(String);
  if (name === 'metadata') return entriesOf(first);
  if (name.startsWith(metadataPrefix)) return [[name.slice(metadataPrefix.length), first]];
  const [, key] = /^metadata\[(.+)\]$/s.exec(name) ?? [];
  if (key !== undefined) return [[key, first]];
  // Threat: a client misspells a filter. If we ignored that filter, the client would get every token and might act on
  // all of them.
  if (/^metadata/i.test(name)) {
    throw new Problem('validation_failed', {
      errors: { [printableKey(name)]: ['must be written as metadata.<key>, or as metadata with one JSON object'] },
    });
  }
  return [];
}

function entriesOf(text: string): (readonly [string, string])[] {
  const parsed = parse(text);
  const entries = Object.entries(parsed ?? {});
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (parsed === null || texts.length < entries.length) {
    throw new Problem('validation_failed', {
      errors: { metadata: ['must be a JSON object whose values are strings'] },
    });
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
