import { setTimeout as wait } from 'node:timers/promises';
import type { ClearEvent } from '../events/event.js';
import { tenantStream } from '../events/tenancy/streams.js';
import { endsToken, readTokenEvent } from '../events/tokens/catalogue.js';
import type { DayCount } from '../ports/daily-counts.js';
import { isDamage } from '../vault/for-tenants.js';
import { tokenTypeAt } from '../vault/load-token.js';
import type { Vault } from '../vault/vault.js';

type CountingDeps = Pick<Vault, 'log' | 'accessLog' | 'dailyCounts' | 'keys' | 'clock' | 'reportDamage'>;

/**
 * The position up to which the event log has been counted is stored under this name. The positions of the access log's
 * chains are stored under other names.
 */
export const logSource = 'log';

const dayMs = 86_400_000;
const eventsAtOnce = 200;
const restMsMax = 1_000;

/** Determines how counting shares the process with requests. */
export type Counting = {
  /** The length of the pause after each piece of work, as a multiple of the time that the work took. */
  readonly restShare: number;
  readonly stopped: AbortSignal;
};

/**
 * Counts tokens and accesses by day. Starts at the positions that are already counted, and continues to the ends of the
 * event log and the access log.
 */
export async function countDays(deps: CountingDeps, counting: Counting): Promise<void> {
  await countEvents(deps, counting);
  await countAccesses(deps, 0, counting);
}

async function rest({ restShare, stopped }: Counting, begunAt: number): Promise<void> {
  const ms = Math.min(restMsMax, (performance.now() - begunAt) * restShare);
  await wait(ms, null, { signal: stopped }).catch(() => undefined);
}

async function countEvents(deps: CountingDeps, counting: Counting): Promise<void> {
  const { log, dailyCounts } = deps;
  while (!counting.stopped.aborted) {
    const begunAt = performance.now();
    const from = (await dailyCounts.positions()).get(logSource) ?? 0;
    const page = await log.readClear(from, eventsAtOnce);
    const to = page.at(-1)?.position;
    if (to === undefined) {
      // A restored log may end before the counted position. In that case, counting restarts from the beginning of the
      // log.
      if (from > (await log.head())) await dailyCounts.clear();
      return;
    }
    const ended = page.filter(({ type }) => type === 'tenant.deleted').map(({ tenantId }) => tenantId);
    const counts = await ofLivingTenants(deps, await countsOfEvents(deps, page));
    await dailyCounts.add({ source: logSource, from, to, counts, ended });
    await rest(counting, begunAt);
  }
}

/** Counts accesses. Reads only the access-log chains that received a batch in the month of `since` (in ms) or later. */
async function countAccesses(deps: CountingDeps, since: number, counting: Counting): Promise<void> {
  const { accessLog, dailyCounts } = deps;
  for (const { chain, sequence } of await accessLog.heads(since)) {
    while (!counting.stopped.aborted) {
      const begunAt = performance.now();
      const source = `access/${chain}`;
      const from = (await dailyCounts.positions()).get(source) ?? 0;
      if (from >= sequence) break;
      const { last, counts } = await accessLog.counts(chain, from, sequence);
      const found = counts.map(
        ({ tenantId, day, operation, outcome, count }): DayCount => ({
          tenantId,
          series: 'accesses',
          day,
          name: operation,
          what: outcome,
          count,
        }),
      );
      await dailyCounts.add({ source, from, to: last, counts: await ofLivingTenants(deps, summed(found)), ended: [] });
      await rest(counting, begunAt);
    }
  }
}

async function countsOfEvents(deps: CountingDeps, page: readonly ClearEvent[]): Promise<readonly DayCount[]> {
  /** The types of the tokens created on this page, keyed by stream. */
  const types = new Map<string, string>();
  const found: DayCount[] = [];
  for (const event of page) {
    const { stream, tenantId, time, revision } = event;
    const change = changeOf(event);
    if (change === null) continue;
    if (change.kind === 'created') types.set(stream, change.tokenType);
    const name = types.get(stream) ?? (await tokenTypeAt(deps, stream, revision));
    const at = change.kind === 'expired' ? Math.min(time, change.dueAt) : time;
    const day = Math.floor(at / dayMs);
    // From the tenant's point of view, the tokens of an undone batch never existed, so they are subtracted from the
    // count of created tokens.
    const counted = change.kind === 'undone' ? { what: 'created', count: -1 } : { what: change.kind, count: 1 };
    found.push({ tenantId, series: 'tokens', day, name, ...counted });
  }
  return summed(found);
}

type Change =
  | { readonly kind: 'created'; readonly tokenType: string }
  | { readonly kind: 'deleted' | 'undone' }
  | { readonly kind: 'expired'; readonly dueAt: number };

/**
 * Returns the change that an event makes to the token counts. Returns null if the event neither creates a token nor
 * ends the life of a token.
 */
function changeOf(event: ClearEvent): Change | null {
  if (event.type !== 'token.created' && !endsToken(event.type)) return null;
  const fact = readTokenEvent(event);
  if (fact.type === 'token.created') return { kind: 'created', tokenType: fact.clear.token_type };
  if (fact.type === 'token.expired') return { kind: 'expired', dueAt: fact.clear.due_at };
  return { kind: fact.type === 'token.deleted' && fact.clear.reason === 'undone' ? 'undone' : 'deleted' };
}

function summed(counts: readonly DayCount[]): readonly DayCount[] {
  const sums = new Map<string, DayCount>();
  for (const one of counts) {
    const key = [one.tenantId, one.day, one.name, one.what].join('/');
    sums.set(key, { ...one, count: one.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()];
}

/**
 * Returns the counts without those of deleted tenants. A deleted tenant can have counts, because its tokens still
 * expire, and accesses to these tokens are still recorded.
 */
async function ofLivingTenants(deps: CountingDeps, counts: readonly DayCount[]): Promise<readonly DayCount[]> {
  const living = new Set<string>();
  for (const tenantId of new Set(counts.map((count) => count.tenantId))) {
    if (await isLiving(deps, tenantId)) living.add(tenantId);
  }
  return counts.filter(({ tenantId }) => living.has(tenantId));
}

/**
 * Returns false if the tenant was deleted or its keys were destroyed. A deletion may destroy the keys long after the
 * event, and nothing removes counts that are added in between. Returns true if the keys are damaged, because they were
 * not destroyed then. Threat: an attacker damages the keys of one tenant to stop the counts of all tenants.
 */
async function isLiving({ log, keys, reportDamage }: CountingDeps, tenantId: string): Promise<boolean> {
  try {
    if ((await keys.tenantKeys(tenantId)) === null) return false;
    const [newest] = await log.readNewest(tenantStream(tenantId), null, 1);
    return newest?.type !== 'tenant.deleted';
  } catch (error) {
    if (!isDamage(error)) throw error;
    reportDamage(error);
    return true;
  }
}

/** The background work that counts tokens and accesses in one process. */
type DailyCounting = { start(): void; stop(): Promise<void> };

const pauseMs = 2_000;
/**
 * Accesses are counted only in every fifth round. In a cluster, the access log has one chain for each process that has
 * ever run, so there can be many chains to read.
 */
const roundsPerAccess = 5;
/**
 * In the background, a pause is 50 times as long as the work before it, but never longer than `restMsMax`. If each
 * piece of work takes at most 20 ms, counting uses at most 2% of the process's time.
 */
const backgroundShare = 50;
/**
 * In a rebuild of the counts, a pause is 4 times as long as the work before it. The rebuild therefore uses at most a
 * fifth of the process's time.
 */
export const rebuildShare = 4;

/** Creates the background work that keeps the counts up to date while the service runs. */
export function createDailyCounting(deps: CountingDeps, onError: (error: unknown) => void): DailyCounting {
  const stopping = new AbortController();
  const counting = { restShare: backgroundShare, stopped: stopping.signal };
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    let readsAllChains = true;
    for (let round = 0; !counting.stopped.aborted; round += 1) {
      try {
        await countEvents(deps, counting);
        if (round % roundsPerAccess === 0) {
          await countAccesses(deps, readsAllChains ? 0 : deps.clock.now() - dayMs, counting);
          readsAllChains = false;
        }
      } catch (error) {
        onError(error);
      }
      await wait(pauseMs, null, { signal: counting.stopped }).catch(() => undefined);
    }
  }

  return {
    start(): void {
      running = run();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
