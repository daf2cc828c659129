import { counted } from '../../domain/text.js';
import type { Clock } from '../../ports/clock.js';
import type { ClockHold, ClockRecord, ClockRecords } from '../../ports/clock-record.js';
import { type EventLog, ForgedLog } from '../../ports/event-log.js';

const hourMs = 3_600_000;
/** If a vault was stopped for longer than this, its start does not trust the clock without confirmation. */
const stoppedMsMax = 7 * 24 * hourMs;
/** A step of the running clock larger than this is not trusted. */
const stepMsMax = hourMs;
const holdMs = 24 * hourMs;
const recordEveryMs = 60_000;
/** Differences up to this come from reading two clocks, or from adjusting one. */
const jitterMs = 2_000;
/** The apparent drift between two clocks when one of them counts whole milliseconds. */
const readingMs = 2;
/** The longest time a verification code is kept (`cvc.retention_seconds`). */
const codeLifeMsMax = hourMs;
/** An event may be newer than the last record by the interval between records and by the delay of a record. */
const unrecordedMsMax = 2 * recordEveryMs;

export type GuardedClock = Required<Omit<Clock, 'steady'>> & {
  readonly steady: () => number;
  /** Returns why nothing is destroyed now, or null. */
  hold(): HoldStatus | null;
  /** Records that the operator confirms the clock. Returns false if there was no hold. */
  confirm(): Promise<boolean>;
  /** Records the time. */
  record(): Promise<void>;
  /** Records the time every minute from now on. */
  start(): void;
  stop(): Promise<void>;
};

export type HoldStatus = { readonly trusted: number; readonly remainingMs: number };

type Deps = {
  readonly clock: Clock;
  readonly records: ClockRecords;
  /** The time of the newest event in the log, ms, or null if there is none. */
  readonly newestEvent: number | null;
  readonly onError: (error: unknown) => void;
  readonly onNotice: (text: string) => void;
};

/**
 * Guards against a clock that is wrong: one bad reading must not destroy anything. A start more than 7 days past the
 * newest recorded time, a start or step of more than an hour back, and a step of more than an hour forward begin a
 * hold: what is due by the old or the new time is hidden, and nothing is destroyed, until the vault has run for 24
 * hours, the operator confirms the clock, or the clock returns to where it should be.
 *
 * A step back moves the time scale of verification codes by the same amount, so their hour continues. At a start it is
 * unknown how long the vault was stopped, so all stored codes become due if the clock went back.
 */
export async function guardedClock(needs: Deps): Promise<GuardedClock> {
  const { clock, records, newestEvent, onError, onNotice } = needs;
  const wallNow = () => clock.now();
  const steady = () => clock.steady?.() ?? clock.now();

  const stored = await records.load();
  /** `wall - steady` of the last reading. */
  let offset = wallNow() - steady();
  /** The same for the time scale of verification codes. It never decreases. */
  let codesOffset = offset;
  let hold: ClockHold | null = null;
  /** The steady time at which `hold.elapsed` was last updated. */
  let countedAt = steady();
  let timer: NodeJS.Timeout | null = null;
  let saving: Promise<unknown> = Promise.resolve();

  const codesAhead = (): number => (codesOffset - offset > readingMs ? Math.ceil(codesOffset - offset) : 0);

  function begin(record: ClockRecord): void {
    const wall = wallNow();
    const newest = newestOf(record, newestEvent);
    const back = newest - wall;
    codesOffset = offset + record.codesAhead + (back > jitterMs ? back + codeLifeMsMax : Math.max(0, back));
    const { trusted, trustedForCodes, ran } = record.hold ?? {
      trusted: newest,
      trustedForCodes: newest + record.codesAhead,
      ran: 0,
    };
    const ahead = wall - (trusted + ran);
    if (ahead <= stoppedMsMax && ahead >= -stepMsMax) return;
    // The same wrong clock continues: a restart neither shortens nor repeats the hold. A different reading begins the
    // hold again.
    const goesOn = wall - newest <= stoppedMsMax && newest - wall <= stepMsMax;
    hold = { trusted, trustedForCodes, ran, elapsed: goesOn ? (record.hold?.elapsed ?? 0) : 0 };
    onNotice(holdText(trusted));
  }

  /**
   * Reads both clocks and detects a step. Every use of the clock calls this, so nothing is destroyed on a stepped
   * clock.
   */
  function check(): number {
    const wall = wallNow();
    const now = steady();
    const step = wall - now - offset;
    const expectedForCodes = now + codesOffset;
    offset = wall - now;
    codesOffset = Math.max(codesOffset, offset);
    if (hold !== null) {
      const ran = Math.max(0, now - countedAt);
      hold = { ...hold, ran: hold.ran + ran, elapsed: hold.elapsed + ran };
      countedAt = now;
    }
    if (Math.abs(step) > stepMsMax) stepped(wall, wall - step, expectedForCodes);
    else if (hold !== null && hold.elapsed >= holdMs) release('24 hours have passed');
    return wall;
  }

  function stepped(wall: number, expected: number, expectedForCodes: number): void {
    if (hold !== null && Math.abs(wall - (hold.trusted + hold.ran)) <= stepMsMax) {
      release('it is back at the expected time');
      return;
    }
    countedAt = steady();
    hold = { ...(hold ?? { trusted: expected, trustedForCodes: expectedForCodes, ran: 0 }), elapsed: 0 };
    onNotice(holdText(hold.trusted));
    save();
  }

  function release(why: string): void {
    hold = null;
    onNotice(`the clock is trusted again, because ${why}`);
    save();
  }

  function save(): void {
    write().catch(onError);
  }

  /** Writes records one after the other, so that an older record never replaces a newer one. */
  function write(): Promise<void> {
    const written = saving.then(async () => {
      const record = { newest: wallNow(), codesAhead: codesAhead(), hold };
      await records.save(record);
    });
    saving = written.catch(() => undefined);
    return written;
  }

  if (stored !== null) begin(stored);
  // A command of the command line that is rejected changes no file. The service records from `start` on.
  if (stored === null || hold !== null) await write();

  return {
    now: check,
    steady,
    latest(): number {
      const wall = check();
      return hold === null ? wall : Math.max(wall, hold.trusted + hold.ran);
    },
    earliest(): number {
      const wall = check();
      return hold === null ? wall : Math.min(wall, hold.trusted);
    },
    codesAhead(): number {
      check();
      return codesAhead();
    },
    latestForCodes: () => check() + codesAhead(),
    earliestForCodes(): number {
      const wall = check();
      const forCodes = wall + codesAhead();
      return hold === null ? forCodes : Math.min(forCodes, hold.trustedForCodes);
    },
    hold(): HoldStatus | null {
      check();
      return hold === null ? null : { trusted: hold.trusted, remainingMs: Math.max(0, holdMs - hold.elapsed) };
    },
    async confirm(): Promise<boolean> {
      check();
      if (hold === null) return false;
      hold = null;
      onNotice('the clock is trusted again, because the operator confirmed it');
      await write();
      return true;
    },
    async record(): Promise<void> {
      check();
      await write();
    },
    start(): void {
      save();
      timer ??= setInterval(() => {
        check();
        save();
      }, recordEveryMs);
      timer.unref();
    },
    async stop(): Promise<void> {
      const wasStarted = timer !== null;
      if (timer !== null) clearInterval(timer);
      timer = null;
      check();
      if (wasStarted || hold !== null) await write().catch(onError);
    },
  };
}

/** Returns a clock that delegates to `guard` once it exists, and to `clock` before that. */
export function lateClock(clock: Clock, guard: () => GuardedClock | null): Clock {
  return {
    now: () => (guard() ?? clock).now(),
    steady: () => guard()?.steady() ?? clock.steady?.() ?? clock.now(),
    latest: () => guard()?.latest() ?? clock.now(),
    earliest: () => guard()?.earliest() ?? Number.NEGATIVE_INFINITY,
    codesAhead: () => guard()?.codesAhead() ?? 0,
    latestForCodes: () => guard()?.latestForCodes() ?? clock.now(),
    earliestForCodes: () => guard()?.earliestForCodes() ?? Number.NEGATIVE_INFINITY,
  };
}

/**
 * Returns the time of the newest event, or null if there is none. `acceptsForged`: also null if the event is not
 * authentic, because a log that is opened only to be examined says nothing about the time.
 */
export async function newestEventTime(log: EventLog, acceptsForged: boolean): Promise<number | null> {
  try {
    const [newest] = await log.readClear((await log.head()) - 1, 1);
    return newest?.time ?? null;
  } catch (error) {
    if (acceptsForged && error instanceof ForgedLog) return null;
    throw error;
  }
}

/** Returns what readiness and `doctor` say of a hold. */
export function holdNotices(hold: HoldStatus | null): readonly string[] {
  if (hold === null) return [];
  const { trusted, remainingMs } = hold;
  return [
    `the clock is far from the newest time that the vault recorded, ${new Date(trusted).toISOString()}: data that is due is hidden, ` +
      `and nothing is destroyed until the service has run for another ${counted(Math.ceil(remainingMs / 60_000), 'minute')}`,
  ];
}

/**
 * Returns the newest trusted time. An event after the last record counts, too, unless it is much newer: then it comes
 * from an earlier wrong clock.
 */
function newestOf({ newest }: ClockRecord, newestEvent: number | null): number {
  return newestEvent !== null && newestEvent - newest <= unrecordedMsMax ? Math.max(newest, newestEvent) : newest;
}

function holdText(trusted: number): string {
  return (
    `the clock is far from the newest time that the vault recorded (${new Date(trusted).toISOString()}): data that is due is ` +
    'hidden, and nothing is destroyed for 24 hours. If the clock is right, run `strongroom clock confirm`'
  );
}
