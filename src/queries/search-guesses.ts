import { recordFruitlessSearch } from '../audit/access-log/record-guessing.js';
import type { Caller } from '../domain/access/caller.js';
import { readsEveryValue } from '../domain/access/decide-access.js';
import type { TokenPermission } from '../domain/access/permission.js';
import { reachOf } from '../domain/access/reach.js';
import { latestNow } from '../ports/clock.js';
import { normalise } from '../search/normalise.js';
import { planSearch } from '../search/plan-search.js';
import type { Query } from '../search/query/syntax-tree.js';
import type { RequestContext } from '../vault/request-context.js';
import type { Rejected } from '../vault/result.js';
import { type SearchTermKeyDeps, withSearchTermKey } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';

/** A term with which a caller can guess a value, because the search result reveals whether a token has that value. */
type ValueTerm = Extract<Query, { kind: 'text' }>;

/** Returns the terms of a query that can be used to guess values. Each distinct value is returned only once. */
export function valueTerms(query: Query): readonly ValueTerm[] {
  switch (query.kind) {
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

/** Values of `data` that a search treats as equal count as one value. */
function distinct(terms: readonly ValueTerm[]): readonly ValueTerm[] {
  const compared = ({ field, value }: ValueTerm): string => (field === 'data' ? normalise(value) : value);
  return [...new Map(terms.map((term) => [`${term.field}:${compared(term)}`, term])).values()];
}

/**
 * Charges the caller one guess for each distinct value in a query. The charge is made before any look-up, even for
 * values that turn out to exist. Threat: a caller that may not read values creates tokens whose search indexes contain
 * its candidates, so every search is a hit. If hits were free, the caller's guesses would be free.
 */
export async function chargeSearch(
  vault: Pick<Vault, 'guesses'>,
  caller: Caller,
  query: Query,
  permission: TokenPermission = 'token:search',
): Promise<Rejected | null> {
  const values = valueTerms(query).length;
  return values === 0 || readsEveryValue(caller, permission) ? null : vault.guesses.charge(caller, values);
}

/**
 * Records in the access log that a search by value found nothing. `total` is the number of matches for the whole query.
 * Threat: a caller that may not read values hides a failed guess by adding a term that always matches, as in `data:1 OR
 * type:card`. If the caller may not read every value, each value is therefore also looked up separately.
 */
export async function recordSearchByValue(
  vault: SearchTermKeyDeps & Pick<Vault, 'clock' | 'recorder' | 'rows'>,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  query: Query,
  total: number,
  permission: TokenPermission = 'token:search',
): Promise<void> {
  const terms = valueTerms(query);
  if (terms.length === 0) return;
  const { caller } = context;
  if (total === 0) await recordFruitlessSearch(vault, context, terms.length, terms.length);
  else if (query.kind !== 'text' && !readsEveryValue(caller, permission)) {
    const missed = await countMissed(vault, caller, terms, permission);
    if (missed > 0) await recordFruitlessSearch(vault, context, terms.length, missed);
  }
}

async function countMissed(
  vault: SearchTermKeyDeps & Pick<Vault, 'clock' | 'rows'>,
  caller: Caller,
  terms: readonly ValueTerm[],
  permission: TokenPermission,
): Promise<number> {
  const { tenantId } = caller;
  const reach = reachOf(caller, permission);
  const page = { now: latestNow(vault.clock), offset: 0, limit: 1 };
  let missed = 0;
  for (const term of terms) {
    const { total } = await withSearchTermKey(vault, tenantId, (searchKey) =>
      vault.rows.search(planSearch(searchKey, tenantId, term, reach), page),
    );
    if (total === 0) missed += 1;
  }
  return missed;
}
