import { deriveAgain } from '../domain/token/derive-content.js';
import { fingerprintHash } from '../events/tokens/fingerprint.js';
import type { RowIndex } from '../ports/unit-of-work.js';
import { KeyLost } from '../vault/key-lost.js';
import { loadToken } from '../vault/load-token.js';
import { openContent } from '../vault/open-token.js';
import { TenantGone } from '../vault/tenant-gone.js';
import { indexKeysOf, tenantKeysOf } from '../vault/tenant-keys.js';
import { unwrap } from '../vault/unwrap.js';
import type { Vault } from '../vault/vault.js';
import { type Stored, withTokenMac } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';
import { rowIndexOf } from './row-index.js';

/** The sources that a row is built from. */
export type RowSources = Pick<Vault, 'log' | 'keys' | 'directory' | 'generations' | 'expressions' | 'integrity'>;

/**
 * Returns a token's row as of the end of its stream. Uses only the log and the keys. Returns null if the stream has no
 * events, or if its tenant was deleted. `known` can be a view that the caller has folded from the beginning of the
 * stream. In that case, the row may reflect only the events in that view. Throws KeyLost.
 */
export async function foldRow(
  sources: RowSources,
  tenantId: string,
  stream: string,
  known: TokenView | null = null,
): Promise<{ readonly view: Stored<TokenView>; readonly index: RowIndex } | null> {
  for (let next = known; ; next = null) {
    const view = next ?? (await loadToken(sources, tenantId, stream));
    if (view.state.revision < 0) return null;
    const index = await indexOf(sources, view);
    if (index === 'tenant_gone') return null;
    if (index !== 'moved_on') return { view: withTokenMac(sources.integrity.rows, view), index };
  }
}

async function indexOf(sources: RowSources, view: TokenView): Promise<RowIndex | 'tenant_gone' | 'moved_on'> {
  const { tenantId, state } = view;
  const { life } = state;
  if (life === null) return 'keep';
  try {
    const { claims } = await tenantKeysOf(sources, tenantId);
    const keys = await indexKeysOf(sources, tenantId);
    const opened = await openContent(sources, view, life);
    if (opened === null) return await whyClosed(sources, view);
    const content = unwrap(opened.content);
    const { indexValues } = deriveAgain(sources.expressions, content);
    const { createdBy, modifiedBy } = life;
    const hash = fingerprintHash(claims, content.fingerprint);
    return rowIndexOf(keys, hash, content, { createdBy, modifiedBy, indexValues });
  } catch (error) {
    // The data of a deleted tenant can no longer be found or decrypted, so its tokens get no rows.
    if (error instanceof TenantGone) return 'tenant_gone';
    throw error;
  }
}

/**
 * Returns `moved_on` if the key was destroyed by a concurrent change of the token. Throws KeyLost if the key was
 * destroyed without an event.
 */
async function whyClosed(sources: RowSources, { stream, tenantId, state }: TokenView): Promise<'moved_on'> {
  const { revision } = (await loadToken(sources, tenantId, stream)).state;
  if (revision === state.revision) throw new KeyLost(stream, 'key_destroyed_without_event');
  return 'moved_on';
}
