import { type ListFilters, listQuery } from '../search/plan-search.js';
import { parseQuery } from '../search/query/parse-query.js';
import { correct, namingTerms } from '../search/vocabulary/correct.js';
import type { RequestContext } from '../vault/request-context.js';
import { type CommandResult, done, invalidFields } from '../vault/result.js';
import type { Vault } from '../vault/vault.js';
import { type FindTokensDeps, type FoundTokens, findTokens, type Range } from './find-tokens.js';
import { chargeSearch, recordSearchByValue } from './search-guesses.js';
import { messageOf, visibleWordsOf } from './vocabulary/visible-words-of.js';

export type { ListFilters };

/** If a search finds nothing, `suggestions` contains the beginnings of terms that the caller may have meant. */
export type SearchResult = FoundTokens & { readonly suggestions: readonly string[] };

type Context = Pick<RequestContext, 'caller' | 'traceId'>;

/**
 * Returns a page of the tokens that match a query (docs/contract.md, "Search tokens" and "Pagination"). An empty query
 * matches everything.
 */
export async function searchTokens(
  vault: FindTokensDeps & Pick<Vault, 'guesses' | 'recorder' | 'vocabularies'>,
  context: Context,
  text: string,
  range: Range,
): Promise<CommandResult<SearchResult>> {
  const parsed = parseQuery(text);
  if (!parsed.ok) return invalidFields({ query: [await messageOf(vault, context, parsed)] });
  const { query } = parsed;
  const refusal = await chargeSearch(vault, context.caller, query);
  if (refusal !== null) return refusal;
  const found = await findTokens(vault, context, 'token:search', query, range);
  await recordSearchByValue(vault, context, query, found.total);
  const terms = found.total === 0 ? namingTerms(query) : [];
  if (terms.length === 0) return done({ suggestions: [], ...found });
  return done({ ...found, suggestions: await correct(terms, await visibleWordsOf(vault, context.caller)) });
}

/**
 * Returns the index of the first invalid character of a query. Returns null if the query is valid, or if it is only too
 * long.
 */
export function queryErrorAt(text: string): number | null {
  const parsed = parseQuery(text);
  return parsed.ok ? null : (parsed.at ?? null);
}

/** Returns a page of the tokens that match all filters (docs/contract.md, "List tokens" and "Pagination"). */
export function listTokens(
  vault: FindTokensDeps,
  context: Pick<RequestContext, 'caller'>,
  filters: ListFilters,
  range: Range,
): Promise<FoundTokens> {
  return findTokens(vault, context, 'token:read', listQuery(filters), range);
}
