import { z } from 'zod';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.js';
import { rangeOf } from '../../http/pagination.js';
import { problemFrom } from '../../http/problem/problem.js';
import { queryErrorAt, searchTokens } from '../../queries/offset-pages.js';
import { type Suggestion, searchSuggestions } from '../../queries/vocabulary/visible-words-of.js';
import type { ConsolePage, Visit } from '../page.js';
import { pageField, pageLinks } from '../pagination.js';
import { releasedTokens } from '../released-tokens.js';
import { shownText } from '../shown-text.js';
import { tokenPath } from '../token-sheet.js';

const pageSize = 20;
const dataShownMax = 120;
/**
 * The maximum number of query characters that the page shows again. It exceeds the maximum length of a query, so the
 * query parser still reports that a longer query is too long.
 */
const queryShownMax = 10_000;

const search = z.object({
  query: z
    .string()
    .transform((text) => text.slice(0, queryShownMax))
    .default(''),
  page: pageField,
});

const prefix = z.object({ prefix: z.string().max(210) });

/**
 * Lists and searches tokens. The form sends a search with POST, because the query may contain a value and the browser's
 * history stores URLs.
 */
export const tokensPage: ConsolePage = {
  menu: { label: 'Tokens', group: 'Vault', also: '/new-token' },
  routes: [
    {
      method: 'GET',
      path: '/tokens',
      session: 'private',
      permission: 'token:search',
      handle: showAsked,
    },
    {
      method: 'POST',
      path: '/tokens',
      session: 'private',
      permission: 'token:search',
      handle: async (visit) => visit.redirectToResult() ?? showAsked(visit),
    },
    {
      method: 'POST',
      path: '/tokens/suggestions',
      session: 'private',
      permission: 'token:search',
      handle: async (visit) => {
        const typed = visit.form(prefix);
        const suggestions = typed.ok ? await searchSuggestions(visit.vault, visit.context, typed.value.prefix) : [];
        return visit.json({ suggestions: suggestions.map((one) => ({ kind: one.kind, text: termOf(one) })) });
      },
    },
  ],
};

async function showAsked(visit: Visit) {
  const asked = visit.form(search);
  return asked.ok ? show(visit, asked.value.query, asked.value.page) : show(visit, '', 1);
}

async function show(visit: Visit, query: string, number: number) {
  const { vault, context } = visit;
  const page = { page: number, size: pageSize };
  const [words, result] = await Promise.all([
    searchSuggestions(vault, context, ''),
    searchTokens(vault, context, query, rangeOf(page)),
  ]);
  const model = {
    query,
    hasData: /(?:^|[\s(])data:/i.test(query),
    fields: [['query', query]],
    words: words.filter(({ kind }) => kind !== 'field').map(termOf),
    mayRead: grantsAnywhere(context.caller, 'token:read'),
    mayCreate: grantsAnywhere(context.caller, 'token:create'),
  };
  if (!result.ok) {
    const { errors } = result;
    if (errors?.['query'] === undefined) throw problemFrom(result);
    const empty = { tokens: [], links: pageLinks({ page: 1, size: pageSize }, 0), suggestions: [] };
    const error = { message: errors['query'].join('; '), ...around(query) };
    return visit.page('tokens', { ...model, ...empty, error }, { title: 'Tokens', status: 400 });
  }
  const { total, suggestions } = result.value;
  const tokens = await releasedTokens(vault, context, result.value, rowOf);
  const links = pageLinks(page, total);
  return visit.page('tokens', { ...model, tokens, links, suggestions, error: null }, { title: 'Tokens' });
}

/** Converts a suggestion to the beginning of a search term. */
function termOf({ text, kind }: Suggestion): string {
  if (kind === 'field' || kind === 'metadata_key') return text.endsWith(':') ? text : `${text}:`;
  return text.startsWith(`${kind}:`) ? text : `${kind}:${text}`;
}

/** Splits a query into three parts. The page uses the parts to mark the first invalid character. */
function around(query: string) {
  const at = queryErrorAt(query);
  if (at === null) return { before: null, at: '', after: '' };
  const [character = ''] = query.slice(at);
  return { before: query.slice(0, at), at: character, after: query.slice(at + character.length) };
}

/** Returns the fields that the table shows for a token. */
function rowOf(token: JsonObject) {
  const { id, type, containers, created_at: createdAt, expires_at: expiresAt = null } = token;
  const isHidden = !Object.hasOwn(token, 'data');
  return {
    id,
    type,
    createdAt,
    expiresAt,
    isHidden,
    containers: Array.isArray(containers) ? containers.map(String) : [],
    data: isHidden ? '' : dataText(token['data'] ?? null),
    path: tokenPath(String(id)),
  };
}

/** Formats data as one line. Lists the members of an object, and shows any other value unchanged. */
function dataText(data: Json): string {
  if (!isJsonObject(data)) return shownText(data, dataShownMax);
  const members = Object.entries(data).map(([key, value]) => `${key}: ${shownText(value, dataShownMax)}`);
  return shownText(members.join(' · '), dataShownMax);
}
