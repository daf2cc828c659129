import type { TokenRowWriter } from '../ports/token-rows.js';
import type { Vault } from '../vault/vault.js';
import { foldRow, type RowSources } from './fold-row.js';

/**
 * Brings a token's row up to the end of its stream. Uses only the log and the keys. If another writer changes the row
 * at the same time, the newest revision is kept. If this function throws KeyLost, the caller must stop the projection.
 */
export async function projectToken(
  vault: RowSources & Pick<Vault, 'clock'>,
  rows: Pick<TokenRowWriter, 'write'>,
  tenantId: string,
  stream: string,
): Promise<void> {
  for (;;) {
    const folded = await foldRow(vault, tenantId, stream);
    if (folded === null) return;
    const { view, index } = folded;
    // Here, a gap can only mean that a generation of rows was added after this row was folded. The row is folded again
    // for that generation.
    if ((await rows.write(view, index, view.state.revision - 1, vault.clock.now())) !== 'gap') return;
  }
}
