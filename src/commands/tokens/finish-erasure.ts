import { loadToken } from '../../vault/load-token.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import { ensureProjected } from '../write-path.js';

/**
 * Destroys keys that earlier deletes of these tokens should have destroyed but could not, and returns the number of
 * tokens. Makes all calls at the same time, so that they share one checkpoint of the key store.
 */
export async function finishErasure(vault: Vault, gone: readonly TokenView[]): Promise<number> {
  const ended = gone.filter(({ state }) => state.life === null && state.ended.length > 0);
  // A living row must not name a destroyed key.
  await ensureProjected(vault, ended);
  const destroyed = await Promise.all(ended.map(({ state }) => vault.keys.destroy(state.ended)));
  return destroyed.filter((count) => count > 0).length;
}

type Tokens = readonly { readonly stream: string }[];

/** Remembers deletes that were not finished, for `finishRemembered`. */
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
 * Finishes earlier deletes of the tenant. A query does not find a deleted token, so without this a repeat of the query
 * could report success while keys are alive. After a restart, the shredder finishes them.
 */
export async function finishRemembered(vault: Vault, tenantId: string): Promise<void> {
  for (const stream of [...(vault.unfinishedErasures.get(tenantId) ?? [])]) {
    await finishErasure(vault, [await loadToken(vault, tenantId, stream)]);
    forgetFinished(vault, tenantId, [{ stream }]);
  }
}
