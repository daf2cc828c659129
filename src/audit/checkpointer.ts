import { type Checkpoint, checkpointStream, readCheckpointEvent, rememberedOf } from '../events/audit/checkpoint.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { AccessHead, AccessLog } from '../ports/access-log.js';
import type { Anchor } from '../ports/anchor.js';
import type { Clock } from '../ports/clock.js';
import type { EventChain } from '../ports/event-chain.js';
import { type EventLog, ForgedLog } from '../ports/event-log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { deliverCheckpoints } from './deliver-checkpoints.js';
import { signCheckpoint, storeCheckpoint } from './make-checkpoint.js';
import { chainAt, clearPages, followLog, isAt, type ProvenChain } from './proven-chain.js';
import { createSignedHeads } from './signed-heads.js';

const eventsMax = 10_000;
const hourMs = 3_600_000;
const roundMs = 1_000;
/** The time to wait, in ms, after a delivery to the anchor has failed. */
const anchorRestMs = 5_000;

export type CheckpointerDeps = {
  readonly log: EventLog;
  readonly chain: EventChain;
  readonly keys: KeyRing;
  readonly accessLog: AccessLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Pick<Metrics, 'anchorFailed'>;
  readonly logId: string;
  /** The anchor. Null if no anchor is configured. */
  readonly anchor: Anchor | null;
  readonly onError: (error: unknown) => void;
};

type When = 'due' | 'grown';

export type Checkpointer = {
  /**
   * Signs a checkpoint if one is `due` (the default), or if anything has been added since the previous checkpoint
   * (`grown`). Throws ForgedLog if the log is not authentic.
   */
  run(when?: When): Promise<void>;
  start(): void;
  /**
   * Signs a checkpoint over everything added since the last checkpoint, and then stops. Does nothing if the
   * checkpointer was not started.
   */
  stop(): Promise<void>;
};

/**
 * Creates the background work that signs the head of the log's chain and the ends of the access log's chains. A
 * checkpoint is due at the start of each hour and after every 10,000 events (docs/design.md, "Audit"). Before a
 * checkpoint is signed, all events since the previous checkpoint are read and verified. Two processes can sign at the
 * same time without harm, because only one of them can append its checkpoint.
 */
export function createCheckpointer(needs: CheckpointerDeps): Checkpointer {
  const { log, chain, keys, accessLog, clock, random, metrics, logId, anchor, onError } = needs;
  const heads = createSignedHeads(log, accessLog);
  /** Null until the newest checkpoint has been read from the log. */
  let known: Known | null = null;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  let stopped = true;
  /**
   * False if the last round failed. In that case, `stop` skips the final round, because that round would probably fail
   * too and only delay the shutdown.
   */
  let isUp = true;
  let anchorRestsUntil = Number.NEGATIVE_INFINITY;

  async function run(when: When = 'due'): Promise<void> {
    await chain.follow();
    const head = await chain.head();
    if (head === null) return;
    // Another run in this process may set `known` to a later checkpoint while this run is in progress. This run
    // continues with the value that it has read.
    const before = known ?? (await newest(log));
    let after: Known | null = before;
    const proven = await followLog(clearPages(log), before.chain, head.position);
    if (!isAt(proven, head)) throw new ForgedLog('the links of the log do not match its events');
    after = { ...before, chain: proven };
    const { last } = before;
    const now = clock.now();
    const isHourly = last === null || hourOf(now) !== before.hour;
    // `proven.events` includes the event that stores the previous checkpoint, because this event comes after the
    // commits signed by that checkpoint. It does not count as an addition.
    const added = last === null ? proven.events : proven.events - 1;
    if (isHourly || added >= eventsMax || when === 'grown') {
      const access = await grownChains(last?.time ?? 0);
      if (isHourly || added > 0 || access.length > 0) {
        const signed = { logId, last, head: proven, isHourly, access, time: now };
        const checkpoint = signCheckpoint(await keys.signingKey(), signed);
        const isFirst = await storeCheckpoint(log, random.uuid(), checkpoint);
        after = null;
        if (isFirst) {
          heads.signed(access);
          await keys.rememberLog({ checkpoint: rememberedOf(checkpoint), link: head });
          after = { last: checkpoint, hour: isHourly ? hourOf(now) : before.hour, chain: chainAt(checkpoint) };
        }
      }
    }
    known = after;
    const latest = after?.last ?? null;
    if (latest !== null) await deliver(latest.number, when);
  }

  /**
   * Returns the ends of the access log's chains that a checkpoint must sign. Reports a damaged access log, and returns
   * no ends: the log is signed without them. Threat: an attacker damages a file of the access log, and nothing is signed
   * any longer.
   */
  async function grownChains(since: number): Promise<readonly AccessHead[]> {
    try {
      return await heads.grown(since);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error.found === null) throw error;
      onError(error);
      return [];
    }
  }

  async function deliver(upTo: number, when: When): Promise<void> {
    if (anchor === null || (performance.now() < anchorRestsUntil && when === 'due')) return;
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
      if (isUp) await run('grown').catch(onError);
    },
  };
}

/**
 * The newest checkpoint, the hour of the newest hourly checkpoint, and the verified part of the chain after the newest
 * checkpoint. If there is no checkpoint yet, `last` is null.
 */
type Known = { readonly last: Checkpoint | null; readonly hour: number; readonly chain: ProvenChain };

async function newest(log: EventLog): Promise<Known> {
  const [event] = await log.readNewest(checkpointStream, null, 1);
  if (event === undefined) return { last: null, hour: -1, chain: chainAt(null) };
  const last = readCheckpointEvent(event);
  const [began] = last.hourly === last.number ? [event] : await log.readNewest(checkpointStream, last.hourly, 1);
  return { last, hour: hourOf(began?.time ?? last.time), chain: chainAt(last) };
}

function hourOf(ms: number): number {
  return Math.floor(ms / hourMs);
}
