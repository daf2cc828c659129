import { withinLimit } from '../../adapters/shared/within-limit.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { Checkpoints } from '../../ports/checkpoints.js';
import type { EventLog } from '../../ports/event-log.js';
import type { RebuildStatus } from '../../ports/projections.js';
import { countedGapMax, type ServiceState } from '../../ports/service-state.js';
import type { FoundProblem } from '../../ports/store-problem.js';
import { leaseMs } from './background.js';
import { type ClusterClock, clockOffMsMax } from './cluster-clock.js';

const limitMs = 1_000;
const lacksRootKey =
  'a rotation has put a new root key into use, which this process cannot read: run `strongroom doctor` on this machine';

type Deps = {
  readonly log: EventLog;
  readonly keys: Pick<KeyRing, 'checkpoint' | 'hasRootKey'>;
  readonly checkpoints: Checkpoints;
  readonly isUp: { readonly mongodb: () => Promise<unknown>; readonly redis: () => Promise<'ok' | FoundProblem> };
  /** Descriptions of the damage that this process has found. */
  readonly damage: readonly string[];
  readonly accessLogIsWritable: boolean;
  readonly clock: Pick<ClusterClock, 'offMs' | 'uncertaintyMs'>;
  readonly rebuild: RebuildStatus | null;
};

/**
 * Returns the state of one cluster process. A process is ready while MongoDB responds. It can still serve reads while
 * EventStoreDB is unavailable. It is not ready if an older copy of EventStoreDB was restored while it runs, because new
 * events would be lost with that copy. It is also not ready if it cannot read the root key that a rotation has put into
 * use, because it fails almost all requests. Timers are at most a few seconds late while Redis is unavailable. A
 * request that needs an unavailable store receives status 503.
 */
export async function clusterState(needs: Deps): Promise<ServiceState> {
  const { log, keys, checkpoints, isUp, damage, accessLogIsWritable, clock, rebuild } = needs;
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
  return {
    reasons: [
      ...(mongodb === null ? ['MongoDB is unavailable'] : []),
      ...((await isBehind()) ? ['EventStoreDB lacks events that MongoDB has recorded: run `strongroom doctor`'] : []),
      ...(hasRootKey === false ? [lacksRootKey] : []),
      ...damage,
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
