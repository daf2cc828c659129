import type { Caller } from '../../domain/access/caller.js';
import { reachOf } from '../../domain/access/reach.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { ParsedQuery } from '../../search/query/parse-query.js';
import { nearestField } from '../../search/vocabulary/correct.js';
import { type Suggestion, suggest } from '../../search/vocabulary/suggest.js';
import { type TenantWords, type VisibleWords, wordsOfRules, wordsOfTenant } from '../../search/vocabulary/word-list.js';
import type { RequestContext } from '../../vault/request-context.js';
import { TenantGone } from '../../vault/tenant-gone.js';
import type { Vault } from '../../vault/vault.js';
import { collectWords, type WordsDeps } from './collect-words.js';

export type { Suggestion };

export type VisibleWordsDeps = WordsDeps & Pick<Vault, 'vocabularies'>;

/**
 * Returns the words that can be suggested to a caller (docs/contract.md, "Suggestions"). Threat: a caller uses
 * suggestions to learn metadata keys and containers that it may not see. A caller that may not search everything
 * therefore gets only the words from its rules. For such a caller, this function neither reads nor waits for any of the
 * tenant's data.
 */
export async function visibleWordsOf(vault: VisibleWordsDeps, caller: Caller): Promise<VisibleWords> {
  if (reachOf(caller, 'token:search') !== 'everything') return wordsOfRules(searchableContainers(caller));
  const { tenantId } = caller;
  return wordsOfTenant(await vault.vocabularies.of(tenantId, vault.clock.now(), () => collect(vault, tenantId)));
}

function searchableContainers({ access }: Caller): readonly string[] {
  if (access.kind !== 'rules') return [];
  return access.rules
    .filter(({ permissions }) => permissions.includes('token:search'))
    .map(({ container }) => container);
}

/**
 * Returns null for an expected failure, because missing suggestions do not justify an error response. The failure is
 * reported by the next request that needs the same rows or keys.
 */
function refusedByStore(error: unknown): null {
  if (error instanceof StoreUnavailable || error instanceof TenantGone) return null;
  throw error;
}

async function collect(vault: WordsDeps, tenantId: string): Promise<TenantWords | null> {
  const words = await collectWords(vault, tenantId).catch(refusedByStore);
  // If the tenant is deleted after this check, its words are dropped when the deletion is stored.
  const tenant = await vault.directory.get('tenant', tenantId);
  return tenant === null || tenant.removedAt !== null ? null : words;
}

/** Returns possible completions for the last term of a query (docs/contract.md, "Suggestions"). */
export async function searchSuggestions(
  vault: VisibleWordsDeps,
  { caller }: Pick<RequestContext, 'caller'>,
  prefix: string,
): Promise<readonly Suggestion[]> {
  return suggest(prefix, await visibleWordsOf(vault, caller));
}

/** Returns the error message for an invalid query. */
export async function messageOf(
  vault: VisibleWordsDeps,
  { caller }: Pick<RequestContext, 'caller'>,
  { message, unknownField }: Extract<ParsedQuery, { readonly ok: false }>,
): Promise<string> {
  if (unknownField === undefined) return message;
  return unknownField.nearest(nearestField(unknownField.name, await visibleWordsOf(vault, caller)));
}
