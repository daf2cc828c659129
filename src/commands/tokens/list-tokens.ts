import { type ListFilters, listQuery } from '../../search/list-query.js';
import type { CommandContext } from '../command-context.js';
import type { Vault } from '../vault.js';
import { findTokens } from './find-tokens.js';
import type { PageNumber, TokenPage } from './token-page.js';

export type { ListFilters };

/** Lists the tokens that pass all filters (specification, "List Tokens"; contract, sections 2 and 7). */
export function listTokens(
  vault: Vault,
  context: Pick<CommandContext, 'caller'>,
  filters: ListFilters,
  page: PageNumber,
): Promise<TokenPage> {
  return findTokens(vault, context, 'token:read', listQuery(filters), page);
}
