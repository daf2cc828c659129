import { onceAMinute } from '../../adapters/shared/once-a-minute.js';
import type { Clock } from '../../ports/clock.js';
import type { ClockRecord, ClockRecords } from '../../ports/clock-record.js';
import { systemClock } from '../vault/system-clock.js';

const compareEveryMs = 1_000;
const recordEveryMs = 60_000;
/**
 * The maximum drift between this machine's clock and MongoDB's clock, in ms per ms. An operating system adjusts its
 * clock by at most 500 ppm, so the two clocks drift apart by at most 1,000 ppm.
 */
const driftPerMs = 0.001;
/** The maximum rounding error of MongoDB's time. MongoDB rounds it down to whole milliseconds. */
const truncatedMs = 1;
/**
 * The maximum difference between a process's clock and MongoDB's clock. If the difference is larger, the process is not
 * ready and makes no irreversible changes.
 */
export const clockOffMsMax = 2_000;
const codeLifeMsMax = 3_600_000;

export type ClusterClock = Required<Clock> & {
  /** Returns half the width, in ms, of the interval that contains MongoDB's time. */
  uncertaintyMs(): number;
  /** Returns how far this machine's clock is ahead of MongoDB's, in ms. */
  offMs(): number;
  /** Returns true if this machine's clock agrees with MongoDB's clock and MongoDB's time is known precisely enough. */
  isTrusted(): boolean;
  /**
   * Compares the current time with the newest time in `records`. Afterwards, saves the current time in `records` at
   * regular intervals.
   */
  recordIn(records: ClockRecords, onError: (error: unknown) => void): Promise<void>;
  stop(): void;
};

/**
 * The lower and upper bounds of the difference between MongoDB's time and this process's monotonic time. `at` is the
 * monotonic time of the measurement.
 */
type Bounds = { readonly least: number; readonly most: number; readonly at: number };

/**
 * Creates a clock that follows MongoDB's time. All processes therefore agree on what is due, even if the clocks of
 * their machines differ. `primaryTime` returns MongoDB's time in ms since the epoch.
 *
 * The clock maintains an interval that contains MongoDB's time. Every second, it measures this interval with a round
 * trip to MongoDB. Between measurements, it widens the interval by the possible drift.
 */
export async function clusterClock(
  primaryTime: () => Promise<number>,
  onError: (error: unknown) => void,
): Promise<ClusterClock> {
  const machine = systemClock();
  let bounds: Bounds = await measure();
  /** The latest time at which this machine's clock agreed with MongoDB's clock. */
  let agreedAt: number | null = null;
  let codesAhead = 0;
  let codesAheadWhenAgreed = 0;
  let recordTimer: NodeJS.Timeout | null = null;
  let isStopped = false;

  /** Measures MongoDB's time. MongoDB reads its clock at some moment between the request and the response. */
  async function measure(): Promise<Bounds> {
    const askedAt = machine.steady();
    const time = await primaryTime();
    const at = machine.steady();
    return { least: time - at, most: time + truncatedMs - askedAt, at };
  }

  function boundsAt(at: number): Bounds {
    const drift = Math.max(0, at - bounds.at) * driftPerMs;
    return { least: bounds.least - drift, most: bounds.most + drift, at };
  }

  /**
   * Measures MongoDB's time and intersects the measured bounds with the known bounds. During an election, a response
   * takes seconds, and the known bounds are often narrower than the measured bounds.
   */
  async function compare(): Promise<void> {
    const measured = await measure();
    const known = boundsAt(measured.at);
    const least = Math.max(known.least, measured.least);
    const most = Math.min(known.most, measured.most);
    if (least <= most) bounds = { least, most, at: measured.at };
    else {
      // The measured bounds and the known bounds do not overlap, so either the primary changed or a clock was set. Even
      // if the time stepped back, a verification code must not live longer.
      codesAhead += Math.ceil(Math.max(0, known.most - measured.least));
      bounds = measured;
    }
    noteAgreement();
  }

  function noteAgreement(): void {
    if (!isTrusted()) return;
    agreedAt = Math.max(agreedAt ?? Number.NEGATIVE_INFINITY, now());
    codesAheadWhenAgreed = codesAhead;
  }

  function now(): number {
    const steady = machine.steady();
    const { least, most } = boundsAt(steady);
    return Math.round(steady + (least + most) / 2);
  }

  function latest(): number {
    const steady = machine.steady();
    return Math.ceil(steady + boundsAt(steady).most);
  }

  /**
   * Returns the earliest possible value of MongoDB's time. While this machine's clock disagrees with MongoDB's, returns
   * a time no later than the last agreement, so that the vault destroys only data that was due at that time.
   */
  function earliest(): number {
    const steady = machine.steady();
    const time = Math.floor(steady + boundsAt(steady).least);
    return isTrusted() ? time : Math.min(time, agreedAt ?? Number.NEGATIVE_INFINITY);
  }

  function uncertaintyMs(): number {
    const { least, most } = boundsAt(machine.steady());
    return (most - least) / 2;
  }

  // The connection is closed soon after the clock is stopped, which makes a comparison or a record under way fail.
  const unlessStopped = (onFailure: (error: unknown) => void) => (error: unknown) => {
    if (!isStopped) onFailure(error);
  };

  const offMs = (): number => machine.now() - now();
  const isTrusted = (): boolean => Math.abs(offMs()) <= clockOffMsMax && uncertaintyMs() <= clockOffMsMax;

  // Measures a second time, because the first measurement may have included the wait for an election or a connection.
  await compare();
  // A failed comparison is only reported. The bounds become wider while MongoDB is unavailable, but the process serves
  // no requests during that time anyway.
  const report = onceAMinute(onError);
  const timer = setInterval(() => compare().catch(unlessStopped(report)), compareEveryMs);
  timer.unref();

  return {
    now,
    latest,
    earliest,
    uncertaintyMs,
    offMs,
    isTrusted,
    steady: machine.steady,
    codesAhead: () => codesAhead,
    latestForCodes: () => latest() + codesAhead,
    earliestForCodes: () => earliest() + (isTrusted() ? codesAhead : codesAheadWhenAgreed),
    async recordIn(records, onRecordError) {
      const stored = await records.load();
      if (stored !== null) {
        // We do not know how much time has passed since `stored.newest` was recorded. If MongoDB's clock has stepped
        // back by more than `clockOffMsMax`, we therefore treat all stored verification codes as due.
        const back = stored.newest - latest();
        codesAhead += stored.codesAhead + (back > clockOffMsMax ? back + codeLifeMsMax : Math.max(0, back));
        agreedAt ??= stored.newest;
      }
      noteAgreement();
      const record = async (): Promise<void> => {
        if (!isTrusted()) return;
        // `codesAhead` can increase while the record is being loaded.
        const loaded = await records.load();
        codesAhead = Math.max(codesAhead, loaded?.codesAhead ?? 0);
        await records.save({ newest: now(), codesAhead, hold: null } satisfies ClockRecord);
      };
      await record();
      recordTimer = setInterval(() => record().catch(unlessStopped(onRecordError)), recordEveryMs);
      recordTimer.unref();
    },
    stop(): void {
      isStopped = true;
      clearInterval(timer);
      if (recordTimer !== null) clearInterval(recordTimer);
    },
  };
}

/** Returns a cluster clock that treats `clock` as exact. Tests use it to control time. */
export function exactClock(clock: Clock): ClusterClock {
  const { now } = clock;
  return {
    now,
    latest: now,
    earliest: now,
    latestForCodes: now,
    earliestForCodes: now,
    steady: clock.steady ?? now,
    codesAhead: () => 0,
    uncertaintyMs: () => 0,
    offMs: () => 0,
    isTrusted: () => true,
    recordIn: async () => undefined,
    stop: () => undefined,
  };
}
