import { type ParsedQuery, parseQuery } from '../../search/query/parse-query.js';
import { correct, namingTerms } from '../../search/vocabulary/correct.js';
import { nearestField } from '../../search/vocabulary/nearest-field.js';
import type { CommandContext } from '../command-context.js';
import { countSearchGuesses, valueTerms } from '../limits/search-guesses.js';
import { type CommandResult, done, invalidFields } from '../result.js';
import type { Vault } from '../vault.js';
import { visibleWordsOf } from '../vocabulary/visible-words-of.js';
import { type FoundTokens, findTokens, type Range } from './find-tokens.js';

/** `suggestions`: of a search without a hit, heads of terms that may have been meant. */
export type SearchResult = FoundTokens & { readonly suggestions: readonly string[] };

type Context = Pick<CommandContext, 'caller'>;

/** Searches by a query (specification, "Search Tokens"; contract, sections 2 and 7); an empty one finds everything. */
export async function searchTokens(
  vault: Vault,
  context: Context,
  text: string,
  range: Range,
): Promise<CommandResult<SearchResult>> {
  const parsed = parseQuery(text);
  if (!parsed.ok) return invalidFields({ query: [await messageOf(vault, context, parsed)] });
  const { query } = parsed;
  const values = valueTerms(query);
  const refusal = values.length === 0 ? null : await vault.guesses.refusal(context.caller);
  if (refusal !== null) return refusal;
  const found = await findTokens(vault, context, 'token:search', query, range);
  // A search for nothing but a value has answered already whether it is there.
  if (query.is === 'text') await vault.guesses.count(context.caller, found.total === 0 ? values.length : 0);
  else await countSearchGuesses(vault, context.caller, values);
  const terms = found.total === 0 ? namingTerms(query) : [];
  if (terms.length === 0) return done({ ...found, suggestions: [] });
  return done({ ...found, suggestions: await correct(terms, await visibleWordsOf(vault, context.caller)) });
}

async function messageOf(
  vault: Vault,
  { caller }: Context,
  { message, unknownField }: Extract<ParsedQuery, { readonly ok: false }>,
): Promise<string> {
  if (unknownField === undefined) return message;
  return unknownField.nearest(nearestField(unknownField.name, await visibleWordsOf(vault, caller)));
}
