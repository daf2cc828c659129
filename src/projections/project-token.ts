import type { TokenRowWriter } from '../ports/token-rows.js';
import type { Vault } from '../vault/vault.js';
import { foldRow } from './fold-row.js';

/**
 * Brings the row of a token to the end of its stream, from nothing but the log and the keys. Whatever else writes the
 * row at the same moment, the newest revision stays. Throws KeyLost: then the projection must stop.
 */
export async function projectToken(
  vault: Vault,
  rows: Pick<TokenRowWriter, 'write'>,
  tenantId: string,
  stream: string,
): Promise<void> {
  for (;;) {
    const folded = await foldRow(vault, tenantId, stream);
    if (folded === null) return;
    const { view, index } = folded;
    // A gap: a generation of rows was added since it was folded.
    if ((await rows.write(view, index, view.state.revision - 1, vault.clock.now())) !== 'gap') return;
  }
}
