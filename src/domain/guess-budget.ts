/** An application's use of one budget in the current window. Times are in ms since the epoch. */
export type BudgetUse = {
  readonly endsAt: number;
  /** The number of guesses that have been reserved in this window. It never exceeds the budget. */
  readonly used: number;
  /**
   * The number of lookups in this window that found something. Each reservation reports the hits since the previous
   * reservation.
   */
  readonly hits: number;
  /** True if a request was rejected in this window because the budget was used up. */
  readonly exhausted: boolean;
  /**
   * The time when the application last became suspect (see `suspectAbove`). Null if it has never become suspect. The
   * value stays the same when a new window begins.
   */
  readonly suspectAt: number | null;
};

export type GuessBudget = {
  readonly max: number;
  readonly windowMs: number;
  /**
   * An application becomes suspect if it makes more lookups than this in one window without a single hit. Null disables
   * this check.
   */
  readonly suspectAbove: number | null;
};

export type ReservationRequest = {
  /** The number of lookups that the caller needs now, at least 1. */
  readonly need: number;
  /** `block` also reserves extra lookups for later requests, and `none` reserves no extra lookups. */
  readonly spare: 'none' | 'block';
  /** The number of hits since the caller's last reservation. */
  readonly hits: number;
  readonly now: number;
};

/** The maximum difference that is tolerated between the clocks of processes that share a budget. */
export const clocksApartMs = 2_000;

export type Reservation = {
  /**
   * The number of guesses that are granted. This is at least `need`, or all remaining guesses if fewer than `need`
   * remain.
   */
  readonly granted: number;
  readonly endsAt: number;
  /** True if this is the first reservation in the window that was not granted in full. */
  readonly exhausts: boolean;
  /** True if this reservation made the application suspect. */
  readonly suspects: boolean;
};

/**
 * A reservation includes at most `spareMax` extra lookups, and at most a twentieth of the lookups that remain after
 * `need` is subtracted.
 */
const spareMax = 49;
const spareDivisor = 20;

/**
 * Reserves a block of guesses from a budget. A new window begins with the first reservation after the previous window
 * has ended. A stored window is ignored if it ends more than one window length (plus `clocksApartMs`) from now, because
 * the clock must have been set back since that window began.
 */
export function reserveGuesses(
  stored: BudgetUse | null,
  { max, windowMs, suspectAbove }: GuessBudget,
  { need, spare, hits, now }: ReservationRequest,
): { readonly after: BudgetUse; readonly reservation: Reservation } {
  const present = stored !== null && now < stored.endsAt && stored.endsAt <= now + windowMs + clocksApartMs;
  const before: BudgetUse = present
    ? stored
    : { endsAt: now + windowMs, used: 0, hits: 0, exhausted: false, suspectAt: stored?.suspectAt ?? null };
  const left = Math.max(0, max - before.used);
  const block = spare === 'none' ? 0 : Math.min(spareMax, Math.floor((left - need) / spareDivisor));
  const granted = need > left ? left : need + block;
  const hitsSoFar = before.hits + hits;
  const wasSuspect = before.suspectAt !== null && before.suspectAt >= before.endsAt - windowMs;
  const suspects = suspectAbove !== null && !wasSuspect && hitsSoFar === 0 && before.used + need > suspectAbove;
  const exhausts = granted < need && !before.exhausted;
  return {
    after: {
      endsAt: before.endsAt,
      used: before.used + granted,
      hits: hitsSoFar,
      exhausted: before.exhausted || exhausts,
      suspectAt: suspects ? now : before.suspectAt,
    },
    reservation: { granted, endsAt: before.endsAt, exhausts, suspects },
  };
}
