import { type ListFilters, listQuery } from '../../search/list-query.js';
import type { CommandContext } from '../command-context.js';
import type { Vault } from '../vault.js';
import { type FoundTokens, findTokens, type Range } from './find-tokens.js';

export type { ListFilters };

/** Lists the tokens that pass all filters (specification, "List Tokens"; contract, sections 2 and 7). */
export function listTokens(
  vault: Vault,
  context: Pick<CommandContext, 'caller'>,
  filters: ListFilters,
  range: Range,
): Promise<FoundTokens> {
  return findTokens(vault, context, 'token:read', listQuery(filters), range);
}
