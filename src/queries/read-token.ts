import { isExpired, type TokenLife } from '../domain/token/token-state.js';
import { latestNow } from '../ports/clock.js';
import { after, type Maybe } from '../ports/maybe.js';
import { ForgedRow } from '../vault/forged-row.js';
import { KeyLost } from '../vault/key-lost.js';
import { isBehindLog } from '../vault/load-token.js';
import { type OpenToken, type OpenTokenDeps, openRow } from '../vault/open-token.js';
import type { Vault } from '../vault/vault.js';
import type { TokenView } from '../views/token-view.js';

export type ReadTokenDeps = OpenTokenDeps & Pick<Vault, 'log' | 'rows' | 'turns' | 'work'>;

/** If the content is larger than this, decrypting and parsing it takes longer than one time slice of the thread. */
const longContentBytes = 64 * 1024;

export type ReadToken = { readonly view: TokenView; readonly life: TokenLife; readonly open: OpenToken };

/**
 * The reason why a row cannot be used. Either its key is destroyed, or the key store has recorded a newer revision than
 * the row has.
 */
type Closed =
  | { readonly kind: 'key_destroyed'; readonly view: TokenView }
  | { readonly kind: 'outdated'; readonly newest: number };

/**
 * Reads a live token from its row and decrypts it. Returns null if the token is unknown, deleted or expired. Throws
 * KeyLost. Throws ForgedRow if the row is outdated.
 */
export function readToken(vault: ReadTokenDeps, tenantId: string, stream: string): Maybe<ReadToken | null> {
  return after(readOnce(vault, tenantId, stream, null), (found) =>
    isClosed(found) ? readAgain(vault, tenantId, stream, found) : found,
  );
}

async function readAgain(
  vault: ReadTokenDeps,
  tenantId: string,
  stream: string,
  first: Closed,
): Promise<ReadToken | null> {
  // Reads the row again, because the token may have been changed or deleted between the read of its row and the read of
  // its key.
  const again = await readOnce(vault, tenantId, stream, first);
  if (!isClosed(again)) return again;
  if (again.kind === 'key_destroyed' && !(await isBehindLog(vault, again.view))) {
    throw new KeyLost(stream, 'key_destroyed_without_event');
  }
  // The process that changed the token may have crashed before it wrote the row. In that case, `follow` writes it.
  const revision = again.kind === 'outdated' ? again.newest : again.view.state.revision + 1;
  await vault.work.follow([{ tenantId, stream, revision }]);
  const followed = await readOnce(vault, tenantId, stream, again);
  if (isClosed(followed)) throw new ForgedRow({ of: 'token', name: stream }, 'outdated');
  return followed;
}

function isClosed(found: ReadToken | Closed | null): found is Closed {
  return found !== null && 'kind' in found;
}

/**
 * Reads and decrypts the row once. `before` is the result of the previous read, or null. If the previous read found
 * that the row was outdated, this read accepts the revision that was the newest at that time, even if the key store has
 * recorded a newer revision since then.
 */
function readOnce(
  vault: OpenTokenDeps & Pick<Vault, 'rows' | 'turns'>,
  tenantId: string,
  stream: string,
  before: Closed | null,
): Maybe<ReadToken | Closed | null> {
  return after(vault.rows.get(stream), (view) => {
    const life = view?.state.life ?? null;
    if (view === null || life === null || view.tenantId !== tenantId || isExpired(life, latestNow(vault.clock)))
      return null;
    const isLong = (view.content?.length ?? 0) > longContentBytes;
    const opening = isLong
      ? vault.turns.turn(tenantId).then(() => openRow(vault, view, life))
      : openRow(vault, view, life);
    return after(opening, (opened) => {
      if (opened === null) return { kind: 'key_destroyed', view };
      const newest = before?.kind === 'outdated' ? before.newest : opened.newest;
      if (view.state.revision < newest) return { kind: 'outdated', newest };
      // The token may have expired while its key was read.
      return isExpired(life, latestNow(vault.clock)) ? null : { view, life, open: opened.open };
    });
  });
}
