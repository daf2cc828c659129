import type { Vault } from '../vault/vault.js';
import type { TokenView } from '../views/token-view.js';

/** Makes the rows at least as new as these streams were when they were read. Streams without events have no rows. */
export async function rowsFollow({ work }: Vault, views: Iterable<TokenView>): Promise<void> {
  const seen = [...views].filter(({ state }) => state.revision >= 0);
  if (seen.length === 0) return;
  await work.follow(seen.map(({ stream, tenantId, state }) => ({ stream, tenantId, revision: state.revision })));
}
