/** An application's use of one budget in the current window. Times are in ms since the epoch. */
export type BudgetUse = {
  readonly endsAt: number;
  /** The total reserved in the window. It never exceeds the budget. */
  readonly used: number;
  /** The number of reported lookups that found something. */
  readonly hits: number;
  /** True if a request was rejected in this window because the budget was used up. */
  readonly exhausted: boolean;
  /** When the application last exceeded `suspectAbove` without a hit. Kept across windows. */
  readonly suspectAt: number | null;
};

export type GuessBudget = {
  readonly max: number;
  readonly windowMs: number;
  /**
   * An application becomes suspect if it makes more lookups than this in one window without a single hit. Null disables
   * this.
   */
  readonly suspectAbove: number | null;
};

export type ReservationRequest = {
  /** The number of lookups that the caller needs now, at least 1. */
  readonly need: number;
  /** Whether to reserve additional lookups for later requests. */
  readonly spare: 'none' | 'block';
  /** The number of hits since the caller's last reservation. */
  readonly hits: number;
  readonly now: number;
};

/** The maximum clock difference between processes that share a budget. */
export const clocksApartMs = 2_000;

export type Reservation = {
  /** The number of guesses granted: at least `need`, or all that were left. */
  readonly granted: number;
  readonly endsAt: number;
  /** True for the first reservation in a window that was not granted in full. */
  readonly exhausts: boolean;
  /** True if the application became suspect with this reservation. */
  readonly suspects: boolean;
};

/** A reservation includes at most this many lookups beyond its need, and at most a twentieth of the remainder. */
const spareMax = 49;
const spareDivisor = 20;

/**
 * Reserves a block of guesses from a budget. A window begins with the first reservation after the previous window has
 * ended. If a stored window ends more than one window length from now, it began before the clock was set back, and no
 * longer counts.
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
