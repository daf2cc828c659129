import { isExpired, type TokenLife } from '../../domain/token/token-state.js';
import { latestNow } from '../../ports/clock.js';
import type { TokenView } from '../../projections/token-view.js';
import { KeyLost } from '../key-lost.js';
import { type OpenToken, openToken } from '../open-token.js';
import type { Vault } from '../vault.js';

export type ReadToken = { readonly view: TokenView; readonly life: TokenLife; readonly open: OpenToken };

/** A living token from its row, opened; null: unknown, deleted or expired. Throws KeyLost. */
export async function readToken(vault: Vault, tenantId: string, stream: string): Promise<ReadToken | null> {
  const found = await readOnce(vault, tenantId, stream);
  if (found !== 'key_destroyed') return found;
  // The token may have been changed or deleted between its row and its key: the row of now tells.
  const again = await readOnce(vault, tenantId, stream);
  if (again === 'key_destroyed') throw new KeyLost(stream, 'key_destroyed_without_event');
  return again;
}

async function readOnce(vault: Vault, tenantId: string, stream: string): Promise<ReadToken | null | 'key_destroyed'> {
  const view = await vault.rows.get(stream);
  const life = view?.state.life ?? null;
  if (view === null || life === null || view.tenantId !== tenantId || isExpired(life, latestNow(vault.clock)))
    return null;
  const open = await openToken(vault, view, life);
  if (open === null) return 'key_destroyed';
  // The token may have expired while its key was fetched.
  return isExpired(life, latestNow(vault.clock)) ? null : { view, life, open };
}
