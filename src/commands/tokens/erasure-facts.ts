import { isExpired } from '../../domain/token/token-state.js';
import type { RecordedEvent } from '../../events/event.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { latestNow } from '../../ports/clock.js';
import { applyToView, emptyView } from '../../projections/token-view.js';
import { planSearch } from '../../search/plan-search.js';
import { searchKeyOf, tenantKeysOf } from '../tenant-keys.js';
import type { Vault } from '../vault.js';

/** One life of a token that is over. Times are milliseconds since the epoch. */
export type EndedLife = { readonly createdAt: number; readonly end: RecordedEvent };

/** What is left of a token that is gone, found by looking. */
export type ErasureFound =
  | { readonly is: 'unknown' }
  | { readonly is: 'living' }
  | { readonly is: 'expired' }
  /** Keys that its events named and that live, or of which there is no row; or a row that still finds it. */
  | { readonly is: 'incomplete'; readonly livingKeys: number; readonly lostKeys: number; readonly rows: number }
  | {
      readonly is: 'erased';
      readonly stream: string;
      readonly lives: readonly EndedLife[];
      readonly keys: number;
      readonly lastDestroyedAt: number;
      readonly row: 'none' | 'tombstone';
    };

/** Looks what became of a token: its keys by every event that ever named one, its row, and what search finds by its id. */
export async function erasureFacts(vault: Vault, tenantId: string, id: string): Promise<ErasureFound> {
  const stream = tokenStream((await tenantKeysOf(vault, tenantId)).names, id);
  const events = (await vault.log.readStream(stream)).filter((event) => event.tenantId === tenantId);
  if (events.length === 0) return { is: 'unknown' };
  const { life } = events.reduce(applyToView, emptyView(stream, tenantId)).state;
  if (life !== null) return isExpired(life, latestNow(vault.clock)) ? { is: 'expired' } : { is: 'living' };

  const named = [...new Set(events.flatMap(({ clear }) => [clear['key'], clear['cvc_key']]))];
  const keyIds = named.filter((keyId) => typeof keyId === 'string');
  const fates = await vault.keys.fates(keyIds);
  const destroyed = fates.flatMap(({ destroyedAt }) => destroyedAt ?? []);
  const row = await vault.rows.get(stream);
  const isInRow = row !== null && (row.state.life !== null || row.content !== null || row.cvc !== null);
  const found = await foundById(vault, tenantId, id);
  if (destroyed.length < keyIds.length || isInRow || found > 0) {
    const livingKeys = fates.length - destroyed.length;
    return {
      is: 'incomplete',
      livingKeys,
      lostKeys: keyIds.length - fates.length,
      rows: Math.max(found, isInRow ? 1 : 0),
    };
  }
  return {
    ...{ is: 'erased', stream, lives: endedLives(events), keys: destroyed.length },
    ...{ lastDestroyedAt: Math.max(...destroyed), row: row === null ? 'none' : 'tombstone' },
  };
}

/** How many rows search would find by the id, were none of them due. */
async function foundById(vault: Vault, tenantId: string, id: string): Promise<number> {
  const query = { is: 'text', field: 'id', value: id } as const;
  const plan = planSearch(await searchKeyOf(vault, tenantId), tenantId, query, 'everything');
  return (await vault.rows.search(plan, { now: 0, offset: 0, limit: 1 })).total;
}

function endedLives(events: readonly RecordedEvent[]): readonly EndedLife[] {
  let createdAt: number | null = null;
  return events.flatMap((event): EndedLife[] => {
    if (event.type === 'token.created') createdAt = event.time;
    if (createdAt === null || (event.type !== 'token.deleted' && event.type !== 'token.expired')) return [];
    const life = { createdAt, end: event };
    createdAt = null;
    return [life];
  });
}
