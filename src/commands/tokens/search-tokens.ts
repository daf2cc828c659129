import { parseQuery } from '../../search/query/parse-query.js';
import type { CommandContext } from '../command-context.js';
import { type CommandResult, done, invalidFields } from '../result.js';
import type { Vault } from '../vault.js';
import { type FoundTokens, findTokens, type Range } from './find-tokens.js';

/** Searches by a query (specification, "Search Tokens"; contract, sections 2 and 7); an empty one finds everything. */
export async function searchTokens(
  vault: Vault,
  context: Pick<CommandContext, 'caller'>,
  query: string,
  range: Range,
): Promise<CommandResult<FoundTokens>> {
  const parsed = parseQuery(query);
  if (!parsed.ok) return invalidFields({ query: [parsed.message] });
  return done(await findTokens(vault, context, 'token:search', parsed.query, range));
}
