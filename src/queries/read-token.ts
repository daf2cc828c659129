import { isExpired, type TokenLife } from '../domain/token/token-state.js';
import { latestNow } from '../ports/clock.js';
import { after, type Maybe } from '../ports/maybe.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
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
  | { readonly kind: 'outdated'; readonly view: TokenView; readonly newest: number };

/** How often a row is read while other requests keep changing the token. */
const readsMax = 10;

/**
 * Reads a live token from its row and decrypts it. Returns null if the token is unknown, deleted or expired. Throws
 * KeyLost. Throws ForgedRow if the row is outdated. Throws StoreUnavailable if the token changes during each read.
 */
export function readToken(vault: ReadTokenDeps, tenantId: string, stream: string): Maybe<ReadToken | null> {
  return after(readOnce(vault, tenantId, stream, null), (found) =>
    isClosed(found) ? readAgain(vault, tenantId, stream, found) : found,
  );
}

/**
 * Reads the row again, because the token may have been changed or deleted between the read of its row and the read of
 * its key. A row that cannot be used twice at the same revision is brought up to the end of its stream, because the
 * process that changed the token may have crashed before it wrote the row. If the row still has that revision after
 * that, an attacker has put it back.
 */
async function readAgain(
  vault: ReadTokenDeps,
  tenantId: string,
  stream: string,
  first: Closed,
): Promise<ReadToken | null> {
  let isFollowed = false;
  let before = first;
  for (let read = 1; read < readsMax; read += 1) {
    const found = await readOnce(vault, tenantId, stream, before);
    if (!isClosed(found)) return found;
    const isSame = found.view.state.revision === before.view.state.revision;
    if (isSame && isFollowed) throw new ForgedRow({ of: 'token', name: stream }, 'outdated');
    if (isSame) {
      if (found.kind === 'key_destroyed' && !(await isBehindLog(vault, found.view))) {
        throw new KeyLost(stream, 'key_destroyed_without_event');
      }
      const revision = found.kind === 'outdated' ? found.newest : found.view.state.revision + 1;
      await vault.work.follow([{ tenantId, stream, revision }]);
    }
    isFollowed = isSame;
    before = found;
  }
  throw new StoreUnavailable('token rows', 'race_not_settled');
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
      if (view.state.revision < newest) return { kind: 'outdated', view, newest };
      // The token may have expired while its key was read.
      return isExpired(life, latestNow(vault.clock)) ? null : { view, life, open: opened.open };
    });
  });
}
