import { loadToken } from '../../vault/load-token.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import { ensureProjected } from '../write-path.js';

/**
 * Destroys the keys that earlier deletions of these tokens failed to destroy. Returns how many of the tokens still had
 * such keys. The calls to the key store run concurrently, so that they share one checkpoint of the key store.
 */
export async function finishErasure(vault: Vault, gone: readonly TokenView[]): Promise<number> {
  const ended = gone.filter(({ state }) => state.life === null && state.ended.length > 0);
  // The rows must reflect the deletion before the keys are destroyed, because the row of a live token must not name a
  // destroyed key.
  await ensureProjected(vault, ended);
  const destroyed = await Promise.all(ended.map(({ state }) => vault.keys.destroy(state.ended)));
  return destroyed.filter((count) => count > 0).length;
}

type Tokens = readonly { readonly stream: string }[];

/** Records the tokens of a failed deletion. `finishRemembered` later finishes the deletion. */
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
 * Finishes the tenant's earlier deletions that failed. Queries do not find deleted tokens, so a retry of a deletion by
 * query does not find these tokens again. Without this step, the retry would report success before the keys of these
 * tokens are destroyed. After a restart of the process, the shredder destroys these keys.
 */
export async function finishRemembered(vault: Vault, tenantId: string): Promise<void> {
  for (const stream of [...(vault.unfinishedErasures.get(tenantId) ?? [])]) {
    await finishErasure(vault, [await loadToken(vault, tenantId, stream)]);
    forgetFinished(vault, tenantId, [{ stream }]);
  }
}
