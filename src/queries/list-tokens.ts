import { type ListFilters, listQuery } from '../search/plan-search.js';
import type { RequestContext } from '../vault/request-context.js';
import { type FindTokensDeps, type FoundTokens, findTokens, type Range } from './find-tokens.js';

export type { ListFilters };

/** Returns a page of the tokens that match all filters (docs/contract.md, "List tokens" and "Pagination"). */
export function listTokens(
  vault: FindTokensDeps,
  context: Pick<RequestContext, 'caller'>,
  filters: ListFilters,
  range: Range,
): Promise<FoundTokens> {
  return findTokens(vault, context, 'token:read', listQuery(filters), range);
}
