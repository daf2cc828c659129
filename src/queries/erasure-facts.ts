import { lifeAfter } from '../domain/token/evolve.js';
import { isExpired, type TokenLife } from '../domain/token/token-state.js';
import type { ClearEvent } from '../events/event.js';
import { namedKeys } from '../events/event-keys.js';
import { endsToken, readTokenEvent } from '../events/tokens/catalogue.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import { latestNow } from '../ports/clock.js';
import type { Looked } from '../ports/erasure-probe.js';
import type { DueRow } from '../ports/token-rows.js';
import { planSearch } from '../search/plan-search.js';
import { allClearEvents } from '../vault/load-token.js';
import { type SearchTermKeyDeps, searchTermKeyOf, tenantKeysOf } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';

export type ErasureFactsDeps = SearchTermKeyDeps & Pick<Vault, 'clock' | 'erasureProbe' | 'log' | 'rows' | 'timers'>;

/** An ended life of a token. `createdAt` is in milliseconds since the epoch. */
export type EndedLife = { readonly createdAt: number; readonly end: ClearEvent };

/** The result of a search for the remains of a token. */
export type ErasureFound =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'living' }
  | { readonly kind: 'expired' }
  | {
      readonly kind: 'incomplete';
      /**
       * `livingKeys` is the number of the token's keys that are not destroyed. `lostKeys` is the number of its keys
       * that have no row in the key store.
       */
      readonly livingKeys: number;
      readonly lostKeys: number;
      /** The places that still contain data derived from the token. */
      readonly left: readonly Sought[];
    }
  | {
      readonly kind: 'erased';
      readonly stream: string;
      readonly lives: readonly EndedLife[];
      readonly keys: number;
      readonly lastDestroyedAt: number;
      readonly row: 'none' | 'tombstone';
      /** The places that were searched. None of them contains data derived from the token. */
      readonly looked: readonly Sought[];
    };

/**
 * A place that was searched. In addition to the kinds in `Looked`, there are two more: the search by the token's id,
 * and the search for the token's timers, which are stored outside the rows.
 */
export type Sought = Omit<Looked, 'kind'> & { readonly kind: Looked['kind'] | 'found_by_id' | 'timer' };

/**
 * Searches for the remains of a token. Checks every key that an event of the token names, and searches every place that
 * may contain data derived from the token.
 */
export async function erasureFacts(vault: ErasureFactsDeps, tenantId: string, id: string): Promise<ErasureFound> {
  const stream = tokenStream((await tenantKeysOf(vault, tenantId)).names, id);
  const events = await allClearEvents(vault.log, stream);
  if (events.length === 0) return { kind: 'unknown' };
  const life = events.reduce<TokenLife | null>((before, event) => lifeAfter(before, readTokenEvent(event)), null);
  if (life !== null) return isExpired(life, latestNow(vault.clock)) ? { kind: 'expired' } : { kind: 'living' };

  const keyIds = [...new Set(events.flatMap(namedKeys))];
  const keyStatuses = await vault.keys.keyStatuses(keyIds);
  const destroyed = keyStatuses.flatMap(({ destroyedAt }) => destroyedAt ?? []);
  const created = events.filter(({ type }) => type === 'token.created').map(({ position }) => position);
  const looked: readonly Sought[] = [
    ...(await vault.erasureProbe.of({ stream, created })),
    await searchedById(vault, tenantId, id),
    await timersOf(vault, events),
  ];
  const left = looked.filter(({ found }) => found > 0);
  if (destroyed.length < keyIds.length || left.length > 0) {
    const livingKeys = keyStatuses.length - destroyed.length;
    return { kind: 'incomplete', livingKeys, lostKeys: keyIds.length - keyStatuses.length, left };
  }
  return {
    kind: 'erased',
    stream,
    lives: endedLives(events),
    keys: destroyed.length,
    looked,
    lastDestroyedAt: destroyed.reduce((last, at) => Math.max(last, at), 0),
    row: (await vault.rows.get(stream)) === null ? 'none' : 'tombstone',
  };
}

/**
 * Searches for timers at all due times that the token has ever had. Most updates keep the due times, so each is looked
 * up only once.
 */
async function timersOf({ timers }: Pick<Vault, 'timers'>, events: readonly ClearEvent[]): Promise<Sought> {
  const rows = new Map<string, DueRow>();
  for (const { stream, tenantId, clear } of events) {
    for (const [due, field] of dueFields) {
      const dueAt = clear[field];
      if (typeof dueAt === 'number') rows.set(`${due} ${dueAt}`, { stream, tenantId, due, dueAt });
    }
  }
  return { kind: 'timer', store: 'timers', looked: rows.size, found: await timers.pending([...rows.values()]) };
}

const dueFields = [
  ['expiry', 'expires_at'],
  ['cvc', 'cvc_purge_at'],
] as const;

/** Searches for the token by its id. This also finds rows of tokens that have expired. */
async function searchedById(
  vault: SearchTermKeyDeps & Pick<Vault, 'rows'>,
  tenantId: string,
  id: string,
): Promise<Sought> {
  const query = { kind: 'text', field: 'id', value: id } as const;
  const plan = planSearch(await searchTermKeyOf(vault, tenantId), tenantId, query, 'everything');
  const { total } = await vault.rows.search(plan, { now: 0, offset: 0, limit: 1 });
  return { kind: 'found_by_id', store: 'search', looked: 1, found: total };
}

function endedLives(events: readonly ClearEvent[]): readonly EndedLife[] {
  let createdAt: number | null = null;
  return events.flatMap((event): EndedLife[] => {
    if (event.type === 'token.created') createdAt = event.time;
    if (createdAt === null || !endsToken(event.type)) return [];
    const life = { createdAt, end: event };
    createdAt = null;
    return [life];
  });
}
