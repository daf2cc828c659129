import { type Suggestion, suggest } from '../../search/vocabulary/suggest.js';
import type { CommandContext } from '../../vault/command-context.js';
import { type VisibleWordsDeps, visibleWordsOf } from './visible-words-of.js';

export type { Suggestion };

/** Returns possible completions for the last term of a query (docs/contract.md, "Suggestions"). */
export async function searchSuggestions(
  vault: VisibleWordsDeps,
  { caller }: Pick<CommandContext, 'caller'>,
  prefix: string,
): Promise<readonly Suggestion[]> {
  return suggest(prefix, await visibleWordsOf(vault, caller));
}
