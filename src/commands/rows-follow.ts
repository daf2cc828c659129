import type { Vault } from '../vault/vault.js';
import type { TokenView } from '../views/token-view.js';

/** Makes sure that what was read of these streams can be read in their rows, too. Streams without events have none. */
export async function rowsFollow({ work }: Vault, views: Iterable<TokenView>): Promise<void> {
  const seen = [...views].filter(({ state }) => state.revision >= 0);
  if (seen.length === 0) return;
  await work.follow(seen.map(({ stream, tenantId, state }) => ({ stream, tenantId, revision: state.revision })));
}
