import type { Caller } from '../../domain/access/caller.js';
import { reachOf } from '../../domain/access/reach.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { type TenantWords, type VisibleWords, wordsOfRules, wordsOfTenant } from '../../search/vocabulary/word-list.js';
import { TenantGone } from '../../vault/tenant-gone.js';
import type { Vault } from '../../vault/vault.js';
import { collectWords } from './collect-words.js';

/**
 * Returns the words that may be suggested to a caller (docs/contract.md, "Suggestions"). Threat: suggestions reveal
 * metadata keys and containers that the caller may not see. Therefore a caller that may not search everything gets only
 * words from its own rules. For such a caller, this neither reads nor waits for any of the tenant's data.
 */
export async function visibleWordsOf(vault: Vault, caller: Caller): Promise<VisibleWords> {
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
 * Returns null for expected failures, because missing suggestions do not justify an error. A request that needs the
 * same rows or keys will report the failure.
 */
function refusedByStore(error: unknown): null {
  if (error instanceof StoreUnavailable || error instanceof TenantGone) return null;
  throw error;
}

async function collect(vault: Vault, tenantId: string): Promise<TenantWords | null> {
  const words = await collectWords(vault, tenantId).catch(refusedByStore);
  // If the tenant is deleted after this check, its words are dropped once the deletion is stored.
  const tenant = await vault.directory.get('tenant', tenantId);
  return tenant === null || tenant.removedAt !== null ? null : words;
}
