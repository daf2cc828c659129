import { type Checkpoint, checkpointStream, readCheckpointEvent } from '../events/audit/checkpoint.js';
import type { AccessLog } from '../ports/access-log.js';
import type { Anchor } from '../ports/anchor.js';
import type { Clock } from '../ports/clock.js';
import type { EventChain } from '../ports/event-chain.js';
import type { EventLog } from '../ports/event-log.js';
import type { KeyRing } from '../ports/key-ring.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import { deliverCheckpoints } from './deliver-checkpoints.js';
import { signCheckpoint, storeCheckpoint } from './make-checkpoint.js';
import { createSignedHeads } from './signed-heads.js';

const eventsMax = 10_000;
const hourMs = 3_600_000;
const roundMs = 1_000;
/** After an anchor has refused a line. */
const anchorRestMs = 5_000;

export type CheckpointerNeeds = {
  readonly log: EventLog;
  readonly chain: EventChain;
  readonly keys: KeyRing;
  readonly accessLog: AccessLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly logId: string;
  /** Null: there is none. */
  readonly anchor: Anchor | null;
  readonly onError: (error: unknown) => void;
};

export type Checkpointer = {
  /** Signs a checkpoint when one is due. `isLast`: also when anything was added at all. */
  run(isLast?: boolean): Promise<void>;
  start(): void;
  /** Signs what was added since the last one and stops; does nothing when it was never started. */
  stop(): Promise<void>;
};

/**
 * Signs the chain of the log and the ends of those of the access log: after 10,000 events, and after an hour in which
 * anything was added (architecture, "Audit"). A vault at rest gets none. Two that do it at once harm nothing: one of them
 * is first at the revision.
 */
export function createCheckpointer(needs: CheckpointerNeeds): Checkpointer {
  const { log, chain, keys, accessLog, clock, random, metrics, logId, anchor, onError } = needs;
  const heads = createSignedHeads(log, accessLog);
  /** Undefined: not known. */
  let last: Checkpoint | null | undefined;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  let stopped = true;
  /** False: the last round failed, and a last one would keep the stop waiting for nothing. */
  let isUp = true;
  let anchorRestsUntil = Number.NEGATIVE_INFINITY;

  async function run(isLast = false): Promise<void> {
    await chain.follow();
    // Another run of this process may learn of a later one meanwhile: this one goes by what it knew when it looked.
    const before = last === undefined ? await newest(log) : last;
    let latest: typeof last = before;
    const head = await chain.head();
    if (head === null) return;
    // The event of the last checkpoint itself is nothing to sign.
    const added = before === null ? head.count : head.count - before.count - 1;
    const now = clock.now();
    const isTime = isLast || now - (before?.time ?? 0) >= hourMs;
    if (added >= eventsMax || isTime) {
      const access = await heads.grown(before?.time ?? 0);
      if (added > 0 || access.length > 0) {
        const checkpoint = signCheckpoint(await keys.signingKey(), { logId, last: before, head, access, time: now });
        const isFirst = await storeCheckpoint(log, random.uuid(), checkpoint);
        if (isFirst) heads.signed(access);
        latest = isFirst ? checkpoint : undefined;
      }
    }
    last = latest;
    if (latest != null) await deliver(latest.number, isLast);
  }

  async function deliver(upTo: number, isLast: boolean): Promise<void> {
    if (anchor === null || (performance.now() < anchorRestsUntil && !isLast)) return;
    try {
      await deliverCheckpoints({ log, keys, anchor }, upTo);
    } catch (error) {
      anchorRestsUntil = performance.now() + anchorRestMs;
      metrics.anchorFailed();
      onError(error);
    }
  }

  async function round(): Promise<void> {
    try {
      await run();
      isUp = true;
    } catch (error) {
      isUp = false;
      onError(error);
    }
    if (!stopped) timer = setTimeout(next, roundMs);
  }

  function next(): void {
    running = round();
  }

  return {
    run,
    start(): void {
      stopped = false;
      next();
    },
    async stop(): Promise<void> {
      if (stopped) return;
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      if (isUp) await run(true).catch(onError);
    },
  };
}

async function newest(log: EventLog): Promise<Checkpoint | null> {
  const [event] = await log.readNewest(checkpointStream, null, 1);
  return event === undefined ? null : readCheckpointEvent(event);
}
