import { generationsCheck } from '../../adapters/mongodb/generations/generations-document.js';
import { withinLimit } from '../../adapters/shared/within-limit.js';
import { UnreadableEvent } from '../../events/read-clear.js';
import { ForgedLog } from '../../ports/event-log.js';
import type { Generations } from '../../ports/generations.js';
import type { RebuildStatus } from '../../ports/projections.js';
import { countedGapMax, type ServiceState } from '../../ports/service-state.js';
import { type FoundProblem, StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { rebuildStatus } from '../../projections/rebuild/rebuild-status.js';
import { ForgedRow } from '../../vault/forged-row.js';
import { KeyLost } from '../../vault/key-lost.js';
import { leaseMs } from './background.js';
import { clockOffMsMax } from './cluster-clock.js';
import type { ClusterStores } from './cluster-stores.js';

const stateMs = 500;
const limitMs = 1_000;
const lostGenerations = 'MongoDB lacks the record of which rows are in use: run `strongroom doctor`';
const damagedGenerations = 'the record in MongoDB of which rows are in use is damaged: run `strongroom doctor`';
const lacksRootKey =
  'a rotation has put a new root key into use, which this process cannot read: run `strongroom doctor` on this machine';

type Deps = {
  readonly stores: Pick<ClusterStores, 'checkpoints' | 'clock' | 'findLostRows' | 'generations' | 'keys' | 'log'>;
  readonly isUp: { readonly mongodb: () => Promise<unknown>; readonly redis: () => Promise<'ok' | FoundProblem> };
  /** Returns descriptions of the damage that this process has found. */
  readonly damage: () => readonly string[];
  readonly forgetRepaired: () => Promise<void>;
  /** Returns the last error of the runner, as `Background.runnerError` does. */
  readonly runnerError: () => unknown;
  readonly accessLogIsWritable: () => boolean;
};

/**
 * Returns a function that returns the state of this process. Any client can ask whether a process is ready. Caching the
 * state limits the load that such requests put on the stores.
 */
export function createClusterState(needs: Deps): () => Promise<ServiceState> {
  return remembered(
    stateMs,
    () => needs.damage().join(),
    () => stateNow(needs),
  );
}

/**
 * Returns the state of one cluster process. A process is ready while MongoDB responds. It can still serve reads while
 * EventStoreDB is unavailable. It is not ready if an older copy of EventStoreDB was restored while it runs, because new
 * events would be lost with that copy. It is also not ready if it cannot read the root key that a rotation has put into
 * use, because it fails almost all requests. Timers are at most a few seconds late while Redis is unavailable. A
 * request that needs an unavailable store receives status 503.
 */
async function stateNow(needs: Deps): Promise<ServiceState> {
  const { isUp, damage, forgetRepaired, runnerError } = needs;
  const { log, keys, checkpoints, clock, generations, findLostRows } = needs.stores;
  await forgetRepaired();
  // If the stores do not respond, the other reasons say so.
  const lostRows = (await orNull(findLostRows())) ?? [];
  const { rebuild, reasons: rebuildReasons } = await rebuildOf(generations);
  const behind = async (position: Promise<number>): Promise<number> =>
    (await log.readClear(await position, countedGapMax)).length;
  const tokensAt = checkpoints.position('tokens');
  const [head, mongodb, redis, hasRootKey, recorded, tokens, shredder, backupMadeAt, hasLeader] = await Promise.all([
    orNull(log.head()),
    orNull(isUp.mongodb()),
    orNull(isUp.redis()),
    orNull(keys.hasRootKey()),
    orNull(tokensAt),
    orNull(behind(tokensAt)),
    orNull(behind(keys.checkpoint('shredder'))),
    orNull(keys.checkpoint('backup')),
    orNull(checkpoints.isLed('tokens', leaseMs)),
  ]);
  // The head may have been read before the position. In that case, it is read again.
  const isBehind = async (): Promise<boolean> =>
    head !== null && recorded !== null && recorded > head && recorded > ((await orNull(log.head())) ?? recorded);
  const state = (name: string, found: unknown) => ({ name, state: found === null ? 'down' : 'up' }) as const;
  const [offMs, uncertaintyMs] = [Math.round(clock.offMs()), Math.round(clock.uncertaintyMs())];
  const accessLogIsWritable = needs.accessLogIsWritable();
  return {
    reasons: [
      ...(mongodb === null ? ['MongoDB is unavailable'] : []),
      ...((await isBehind()) ? ['EventStoreDB lacks events that MongoDB has recorded: run `strongroom doctor`'] : []),
      ...(hasRootKey === false ? [lacksRootKey] : []),
      ...damage(),
      ...rebuildReasons,
      ...lostRows.map(reasonOf),
      ...runnerReason(runnerError()),
      ...(accessLogIsWritable ? [] : ['the access log cannot be written']),
      ...(Math.abs(offMs) > clockOffMsMax ? [`this machine’s clock is ${offMs} ms off MongoDB’s`] : []),
      ...(uncertaintyMs > clockOffMsMax ? [`MongoDB’s time is uncertain by ${uncertaintyMs} ms`] : []),
    ],
    notices: [],
    stores: [
      state('eventstoredb', head),
      state('mongodb', mongodb),
      redis === null || redis === 'ok' ? state('redis', redis) : { name: 'redis', state: 'down', problem: redis },
      { name: 'access log', state: accessLogIsWritable ? 'up' : 'down' },
    ],
    projections: [
      { name: 'tokens', gap: tokens },
      { name: 'directory', gap: tokens },
      { name: 'shredder', gap: shredder },
    ],
    rebuild,
    hasLeader,
    backupMadeAt: backupMadeAt === 0 ? null : backupMadeAt,
  };
}

/**
 * Returns the result of the call, or null if the call fails or takes too long. The state is therefore available
 * quickly, even while a store is down.
 */
function orNull<T>(asked: Promise<T>): Promise<T | null> {
  return withinLimit('state', limitMs, asked).catch(() => null);
}

/** Returns the running rebuild, and the reasons why the rows in use are not known, if any. */
async function rebuildOf({ rebuild }: Pick<Generations, 'rebuild'>): Promise<{
  readonly rebuild: RebuildStatus | null;
  readonly reasons: readonly string[];
}> {
  try {
    return { rebuild: rebuildStatus(await rebuild()).running, reasons: [] };
  } catch (error) {
    if (error instanceof StoreUnavailable && error.reason === 'generations_missing') {
      return { rebuild: null, reasons: [lostGenerations] };
    }
    const isDamaged = error instanceof StoreProblem && error.found?.check === generationsCheck;
    return { rebuild: null, reasons: isDamaged ? [damagedGenerations] : [] };
  }
}

/** Returns a problem with the rows as a reason why a process is not ready. */
function reasonOf({ says, do: what }: FoundProblem): string {
  return `${says}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
}

/**
 * Returns the reason why rows are not updated, or an empty list if `damage` already reports the error. One event or key
 * that the runner cannot read stops it for all tenants.
 */
function runnerReason(error: unknown): readonly string[] {
  if (error === null || error instanceof KeyLost || error instanceof ForgedRow || error instanceof ForgedLog) return [];
  const isNamed = error instanceof StoreProblem || error instanceof UnreadableEvent;
  return [`rows are not updated: ${isNamed ? error.message : 'unexpected error; see the log of this process'}`];
}

/**
 * Returns a function that calls `ask` and caches its result for `lifeMs`. The function calls `ask` again when that time
 * has passed, or earlier if the value of `known` changes.
 */
function remembered<T>(lifeMs: number, known: () => string, ask: () => Promise<T>): () => Promise<T> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let knownThen = '';
  let answer: Promise<T> | null = null;
  return () => {
    if (answer === null || performance.now() - askedAt > lifeMs || known() !== knownThen) {
      askedAt = performance.now();
      knownThen = known();
      answer = ask();
    }
    return answer;
  };
}
