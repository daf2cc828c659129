import { loadToken } from '../../vault/load-token.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import { ensureProjected } from '../write-path.js';

/**
 * Destroys the keys that earlier deletions of these tokens failed to destroy. Returns the number of tokens that still
 * had such keys. Destroys the keys of all tokens concurrently, so that the calls share one checkpoint of the key store.
 */
export async function finishErasure(vault: Vault, gone: readonly TokenView[]): Promise<number> {
  const ended = gone.filter(({ state }) => state.life === null && state.ended.length > 0);
  // The rows must show the deletion first, because the row of a live token must not name a destroyed key.
  await ensureProjected(vault, ended);
  const destroyed = await Promise.all(ended.map(({ state }) => vault.keys.destroy(state.ended)));
  return destroyed.filter((count) => count > 0).length;
}

type Tokens = readonly { readonly stream: string }[];

/** Records unfinished deletions for `finishRemembered`. */
export function rememberUnfinished({ unfinishedErasures }: Vault, tenantId: string, tokens: Tokens): void {
  const streams = unfinishedErasures.get(tenantId) ?? new Set();
  for (const { stream } of tokens) streams.add(stream);
  unfinishedErasures.set(tenantId, streams);
}

export function forgetFinished({ unfinishedErasures }: Vault, tenantId: string, tokens: Tokens): void {
  const streams = unfinishedErasures.get(tenantId);
  if (streams === undefined) return;
  for (const { stream } of tokens) streams.delete(stream);
  if (streams.size === 0) unfinishedErasures.delete(tenantId);
}

/**
 * Finishes the tenant's earlier deletions. Queries do not find deleted tokens, so otherwise the retry of a deletion by
 * query would report success before the keys of those tokens are destroyed. After a restart, the shredder destroys
 * these keys.
 */
export async function finishRemembered(vault: Vault, tenantId: string): Promise<void> {
  for (const stream of [...(vault.unfinishedErasures.get(tenantId) ?? [])]) {
    await finishErasure(vault, [await loadToken(vault, tenantId, stream)]);
    forgetFinished(vault, tenantId, [{ stream }]);
  }
}
