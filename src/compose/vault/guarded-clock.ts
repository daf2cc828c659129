import { counted } from '../../domain/text.js';
import type { Clock } from '../../ports/clock.js';
import type { ClockHold, ClockRecord, ClockRecords } from '../../ports/clock-record.js';
import { type EventLog, ForgedLog } from '../../ports/event-log.js';
import { clockCheck, type FoundProblem } from '../../ports/store-problem.js';

const hourMs = 3_600_000;
/** If a vault was stopped for longer than this time, a hold begins when the vault is restarted. */
const stoppedMsMax = 7 * 24 * hourMs;
/** If the clock steps by more than this time, a hold begins. */
const stepMsMax = hourMs;
const holdMs = 24 * hourMs;
const recordEveryMs = 60_000;
/**
 * Between two readings, the wall clock and the monotonic clock can diverge by this much even if neither of them
 * stepped. The reason is that they are read one after the other, or that one of them is being adjusted.
 */
const jitterMs = 2_000;
/**
 * The apparent drift between the wall clock and the monotonic clock. It arises because one of the clocks reports only
 * whole milliseconds.
 */
const readingMs = 2;
/** The longest time for which a verification code can be stored (the maximum of `cvc.retention_seconds`). */
const codeLifeMsMax = hourMs;
/**
 * An event still counts as evidence of the time if it is at most this many ms newer than the last recorded time. The
 * limit allows for the interval between two records, and for a record that is written late.
 */
const unrecordedMsMax = 2 * recordEveryMs;

export type GuardedClock = Required<Omit<Clock, 'steady'>> & {
  readonly steady: () => number;
  /** Returns the current hold, or null if the clock is trusted. */
  hold(): HoldStatus | null;
  /** Records that the operator has confirmed the clock. Returns false if the clock is not on hold. */
  confirm(): Promise<boolean>;
  /** Saves the current time. */
  record(): Promise<void>;
  /** Starts saving the current time once a minute. */
  start(): void;
  stop(): Promise<void>;
};

export type HoldStatus = { readonly trusted: number; readonly remainingMs: number };

type Deps = {
  readonly clock: Clock;
  readonly records: ClockRecords;
  /** The time of the newest event in the log in ms, or null if the log has no usable event. */
  readonly newestEvent: number | null;
  readonly onError: (error: unknown) => void;
  readonly onNotice: (text: string) => void;
};

/**
 * Guards against a wrong clock, so that a single wrong reading cannot destroy anything. A hold begins in one of three
 * cases:
 * - The vault starts more than 7 days after the newest recorded time.
 * - The vault starts more than one hour before the newest recorded time.
 * - The clock steps by more than one hour in either direction.
 *
 * During a hold, the vault destroys nothing, and hides everything that is due according to either the old or the new
 * time. The hold ends when the vault has run for 24 hours, when the operator confirms the clock, or when the clock
 * returns to the expected time.
 *
 * Verification codes have their own time scale. When the clock steps back, that scale moves forward by the same amount,
 * so the codes do not live longer. At startup, the vault cannot determine how long it was stopped. If the clock has
 * gone back, all stored codes therefore become due.
 */
export async function guardedClock(needs: Deps): Promise<GuardedClock> {
  const { clock, records, newestEvent, onError, onNotice } = needs;
  const wallNow = () => clock.now();
  const steady = () => clock.steady?.() ?? clock.now();

  const stored = await records.load();
  /** The difference between the wall clock time and the monotonic time at the last reading. */
  let offset = wallNow() - steady();
  /** The difference between the time for verification codes and the monotonic time. It never decreases. */
  let codesOffset = offset;
  let hold: ClockHold | null = null;
  /** The monotonic time at which `hold.elapsed` was last updated. */
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
    // If the clock is still wrong in the same way, the hold continues after a restart with the same remaining time. If
    // the clock is wrong in a different way, the hold starts from the beginning.
    const goesOn = wall - newest <= stoppedMsMax && newest - wall <= stepMsMax;
    // Threat: the clock steps ahead by less than 7 days, and a restart takes the step for a stop of that length. The
    // recorded time was already ahead of the trusted time, so the clock was wrong before the stop.
    const stillAhead = record.hold !== null && goesOn && newest > trusted + ran;
    const ahead = wall - (trusted + ran);
    if (!stillAhead && ahead <= stoppedMsMax && ahead >= -stepMsMax) return;
    hold = { trusted, trustedForCodes, ran, elapsed: goesOn ? (record.hold?.elapsed ?? 0) : 0 };
    onNotice(holdText(trusted));
  }

  /**
   * Reads the wall clock and the monotonic clock, and detects a step. Every use of the clock calls this function, so a
   * step is detected before it can cause the vault to destroy anything.
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

  /**
   * Writes a record of the current time. Waits for earlier writes to finish, so that an older record never replaces a
   * newer one.
   */
  function write(): Promise<void> {
    const written = saving.then(async () => {
      const record = { newest: wallNow(), codesAhead: codesAhead(), hold };
      await records.save(record);
    });
    saving = written.catch(() => undefined);
    return written;
  }

  if (stored !== null) begin(stored);
  // A CLI command that is rejected must not change any file, so regular recording begins only when `start` is called.
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

/** Returns a clock that uses `clock` until the guarded clock exists, and then uses the guarded clock. */
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
 * Returns the time of the newest event, or null if the log is empty. If the newest event is forged, throws ForgedLog.
 * If `acceptsForged` is true, returns null instead, because a forged event is no evidence of the time.
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

/** Returns the notices about a hold. The readiness response and `doctor` show them. */
export function holdNotices(hold: HoldStatus | null): readonly FoundProblem[] {
  if (hold === null) return [];
  const { trusted, remainingMs } = hold;
  const says =
    `the clock is far from the newest time that the vault recorded, ${new Date(trusted).toISOString()}: data ` +
    'that is due is hidden, and nothing is destroyed until the service has run for another ' +
    `${counted(Math.ceil(remainingMs / 60_000), 'minute')}`;
  return [{ check: clockCheck, says, do: 'Correct the clock. If it is right, run `strongroom clock confirm`' }];
}

/**
 * Returns the newest trusted time: either the last recorded time, or the time of the newest event. Ignores an event
 * that is much newer than the record, because the clock was probably wrong when that event was written.
 */
function newestOf({ newest }: ClockRecord, newestEvent: number | null): number {
  return newestEvent !== null && newestEvent - newest <= unrecordedMsMax ? Math.max(newest, newestEvent) : newest;
}

function holdText(trusted: number): string {
  return (
    `the clock is far from the newest time that the vault recorded (${new Date(trusted).toISOString()}): data ` +
    'that is due is hidden, and nothing is destroyed for 24 hours. If the clock is right, run `strongroom clock ' +
    'confirm`'
  );
}
