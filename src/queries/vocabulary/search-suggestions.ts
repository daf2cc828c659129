import { type Suggestion, suggest } from '../../search/vocabulary/suggest.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type VisibleWordsDeps, visibleWordsOf } from './visible-words-of.js';

export type { Suggestion };

/** Returns possible completions for the last term of a query (docs/contract.md, "Suggestions"). */
export async function searchSuggestions(
  vault: VisibleWordsDeps,
  { caller }: Pick<RequestContext, 'caller'>,
  prefix: string,
): Promise<readonly Suggestion[]> {
  return suggest(prefix, await visibleWordsOf(vault, caller));
}
