import { type ListFilters, listQuery } from '../search/plan-search.js';
import { parseQuery } from '../search/query/parse-query.js';
import type { Query } from '../search/query/syntax-tree.js';
import type { RequestContext } from '../vault/request-context.js';
import { type CommandResult, done, invalidFields } from '../vault/result.js';
import type { Vault } from '../vault/vault.js';
import { openCursor, sealCursor } from './cursor.js';
import { type FindTokensDeps, type FoundStep, findTokensBefore } from './find-tokens.js';
import { chargeSearch, recordSearchByValue } from './search-guesses.js';
import { messageOf } from './vocabulary/visible-words-of.js';

type PageTokensDeps = FindTokensDeps & Pick<Vault, 'guesses' | 'integrity' | 'random' | 'recorder'>;

/** `start` is the cursor of the previous page. It is null for the first page. */
export type PageStart = { readonly start: string | null; readonly size: number };

/** `next` is the cursor of the next page. It is null on the last page. */
export type TokenStep = Pick<FoundStep, 'tokens' | 'rest'> & { readonly next: string | null };

type Context = Pick<RequestContext, 'caller' | 'traceId'>;

/** Returns a page of the tokens that match all filters (docs/contract.md, "Cursor pagination"). */
export function listTokensPage(
  vault: PageTokensDeps,
  context: Context,
  filters: ListFilters,
  page: PageStart,
): Promise<CommandResult<TokenStep>> {
  return pageOf(vault, context, 'token:read', listQuery(filters), page);
}

/** Returns a page of the tokens that match a query (docs/contract.md, "Cursor pagination"). */
export async function searchTokensPage(
  vault: PageTokensDeps & Pick<Vault, 'vocabularies'>,
  context: Context,
  text: string,
  page: PageStart,
): Promise<CommandResult<TokenStep>> {
  const parsed = parseQuery(text);
  if (!parsed.ok) return invalidFields({ query: [await messageOf(vault, context, parsed)] });
  return pageOf(vault, context, 'token:search', parsed.query, page);
}

async function pageOf(
  vault: PageTokensDeps,
  context: Context,
  permission: 'token:read' | 'token:search',
  query: Query,
  { start, size }: PageStart,
): Promise<CommandResult<TokenStep>> {
  const { caller } = context;
  const scope = { permission, asked: query };
  const before = start === null ? null : openCursor(vault, caller, scope, start);
  if (start !== null && before === null) {
    return invalidFields({ start: ['must be `next` of a page of the same request by the same application'] });
  }
  const refusal = await chargeSearch(vault, caller, query, permission);
  if (refusal !== null) return refusal;
  const { tokens, rest, next } = await findTokensBefore(vault, context, permission, query, { before, limit: size });
  // Only the search for the first page is recorded. A later page can be empty even though the query has found tokens.
  if (before === null) {
    await recordSearchByValue(vault, context, query, tokens.length + (next === null ? 0 : 1), permission);
  }
  return done({ tokens, rest, next: next === null ? null : sealCursor(vault, caller, scope, next) });
}
