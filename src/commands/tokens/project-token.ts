import { deriveFrom } from '../../domain/token/derive-content.js';
import type { TokenRowWriter } from '../../ports/token-rows.js';
import type { RowIndex } from '../../ports/unit-of-work.js';
import type { TokenView } from '../../projections/token-view.js';
import { KeyLost } from '../key-lost.js';
import { loadToken } from '../load-token.js';
import { openToken } from '../open-token.js';
import { TenantGone } from '../tenant-gone.js';
import { searchKeyOf, tenantKeysOf } from '../tenant-keys.js';
import type { Vault } from '../vault.js';
import { rowIndexOf } from './row-index.js';

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
    const view = await loadToken(vault, tenantId, stream);
    if (view.state.revision < 0) return;
    const index = view.state.life === null ? 'keep' : await indexOf(vault, view);
    if (index === 'tenant_gone') return;
    if (index === 'moved_on') continue;
    await rows.write(view, index, view.state.revision - 1, vault.clock.now());
    return;
  }
}

async function indexOf(vault: Vault, view: TokenView): Promise<RowIndex | 'tenant_gone' | 'moved_on'> {
  const { tenantId, state } = view;
  const { life } = state;
  if (life === null) return 'keep';
  try {
    const keys = { tenantKeys: await tenantKeysOf(vault, tenantId), searchKey: await searchKeyOf(vault, tenantId) };
    const open = await openToken(vault, view, life);
    if (open === null) return await whyClosed(vault, view);
    const content = open.content.reveal();
    const derived = deriveFrom(vault.expressions, content);
    if (!derived.ok) throw new Error('what could be evaluated once can no longer be');
    const { createdBy, modifiedBy } = life;
    return rowIndexOf(keys, content, { createdBy, modifiedBy, indexValues: derived.value.indexValues });
  } catch (error) {
    // Nothing of a deleted tenant is found or opened again.
    if (error instanceof TenantGone) return 'tenant_gone';
    throw error;
  }
}

/** A key was destroyed: by a change that came meanwhile, or without one, and then it is lost. */
async function whyClosed(vault: Vault, { stream, tenantId, state }: TokenView): Promise<'moved_on'> {
  const { revision } = (await loadToken(vault, tenantId, stream)).state;
  if (revision === state.revision) throw new KeyLost(stream, 'key_destroyed_without_event');
  return 'moved_on';
}
