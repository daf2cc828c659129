import type { Caller } from '../../domain/access/caller.js';
import { reachOf } from '../../domain/access/reach.js';
import { latestNow } from '../../ports/clock.js';
import { planSearch } from '../../search/plan-search.js';
import type { Query } from '../../search/query/syntax-tree.js';
import { withSearchKey } from '../tenant-keys.js';
import type { Vault } from '../vault.js';

/** A term by which values can be tried: it says whether somebody's token has that value. */
type ValueTerm = Extract<Query, { is: 'text' }>;

/** The terms of a query by which values can be tried, each once. */
export function valueTerms(query: Query): readonly ValueTerm[] {
  switch (query.is) {
    case 'and':
    case 'or':
      return distinct(query.of.flatMap(valueTerms));
    case 'not':
      return valueTerms(query.of);
    case 'text':
      return query.field === 'data' || query.field === 'fingerprint' ? [query] : [];
    default:
      return [];
  }
}

function distinct(terms: readonly ValueTerm[]): readonly ValueTerm[] {
  return [...new Map(terms.map((term) => [`${term.field}:${term.value}`, term])).values()];
}

/**
 * Counts each term that finds nothing the caller may search, whatever stands beside it: `data:1 OR type:card` tries a
 * value as well as `data:1` does.
 */
export async function countSearchGuesses(vault: Vault, caller: Caller, terms: readonly ValueTerm[]): Promise<void> {
  if (terms.length === 0) return;
  const { tenantId } = caller;
  const reach = reachOf(caller, 'token:search');
  const page = { now: latestNow(vault.clock), offset: 0, limit: 1 };
  let guesses = 0;
  for (const term of terms) {
    const { total } = await withSearchKey(vault, tenantId, (searchKey) =>
      vault.rows.search(planSearch(searchKey, tenantId, term, reach), page),
    );
    if (total === 0) guesses += 1;
  }
  await vault.guesses.count(caller, guesses);
}
