import { endedKeys } from '../../events/event-keys.js';
import { isTokenStream } from '../../events/tokens/stream-name.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { loadToken } from '../../vault/load-token.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import { ensureProjected } from '../write-path.js';

type FinishErasureDeps = Pick<Vault, 'keys' | 'log' | 'turns' | 'unfinishedErasures' | 'work'>;

/**
 * Destroys the keys that earlier commands on these tokens failed to destroy. Returns how many of the tokens still had
 * such keys. The calls to the key store run concurrently, so that they share one checkpoint of the key store.
 */
export async function finishErasure(vault: Pick<Vault, 'keys' | 'work'>, views: readonly TokenView[]): Promise<number> {
  const ended = views.filter(({ state }) => state.ended.length > 0);
  // The rows must be as new as the views before the keys are destroyed, because the row of a live token must not name a
  // destroyed key.
  await ensureProjected(vault, ended);
  const destroyed = await Promise.all(ended.map(({ state }) => vault.keys.destroy(state.ended)));
  return destroyed.filter((count) => count > 0).length;
}

/**
 * A tenant with this many unfinished deletions must finish them before its next deletion of many tokens. Threat: while
 * keys cannot be destroyed, a tenant repeats such deletions until the memory is used up.
 */
const unfinishedMax = 1_000;
/** The number of tokens that are loaded and finished together. */
const finishedAtOnce = 100;
const unreadMax = 10_000;
/** The events of a page are verified without a pause, so a page is short. */
const pageSize = 100;

/**
 * Remembers the tenant's deletions that another process began but did not finish, because it failed or was killed. In
 * the embedded profile, there is no other process, and a restart finishes all deletions. Reads the events that the
 * shredder has not read yet, but at most 10,000 of them, because without a leader there can be very many.
 */
export async function rememberOthers(vault: FinishErasureDeps, tenantId: string): Promise<void> {
  const { log, keys, work, unfinishedErasures } = vault;
  if (work.isOneTransaction) return;
  const slices = vault.turns.begin(tenantId);
  let position = await keys.checkpoint('shredder');
  for (let read = 0; read < unreadMax; read += pageSize) {
    await slices.pause();
    const page = await log.readClear(position, pageSize);
    const last = page.at(-1);
    if (last === undefined) return;
    const ended = page.filter((event) => event.tenantId === tenantId && isTokenStream(event.stream));
    const streams = new Map(ended.flatMap((event) => endedKeys([event]).map(({ keyId }) => [keyId, event.stream])));
    const living = (await keys.keyStatuses([...streams.keys()])).filter(({ destroyedAt }) => destroyedAt === null);
    unfinishedErasures.remember(
      tenantId,
      living.flatMap(({ keyId }) => streams.get(keyId) ?? []),
    );
    if (page.length < pageSize) return;
    position = last.position;
  }
}

/**
 * Finishes the tenant's earlier deletions that failed. Queries do not find deleted tokens, so a retry of a deletion by
 * query does not find these tokens again. Without this step, the retry would report success before the keys of these
 * tokens are destroyed. The shredder also destroys these keys, when a process starts and every minute. If a token
 * cannot be loaded, finishes the others and then throws the error. If a store is unavailable, throws StoreUnavailable
 * at once.
 */
export async function finishRemembered(vault: FinishErasureDeps, tenantId: string): Promise<void> {
  const streams = vault.unfinishedErasures.of(tenantId);
  const slices = vault.turns.begin(tenantId);
  const failures: unknown[] = [];
  for (let start = 0; start < streams.length; start += finishedAtOnce) {
    const views: TokenView[] = [];
    for (const stream of streams.slice(start, start + finishedAtOnce)) {
      await slices.pause();
      try {
        views.push(await loadToken(vault, tenantId, stream, slices.pause));
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        failures.push(error);
      }
    }
    await finishErasure(vault, views);
    vault.unfinishedErasures.forget(
      tenantId,
      views.map(({ stream }) => stream),
    );
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Finishes the tenant's earlier deletions if many of them are unfinished. Call this before more tokens are deleted.
 * Throws StoreUnavailable if the keys still cannot be destroyed.
 */
export async function finishIfMany(vault: FinishErasureDeps, tenantId: string): Promise<void> {
  if (vault.unfinishedErasures.of(tenantId).length >= unfinishedMax) await finishRemembered(vault, tenantId);
}
