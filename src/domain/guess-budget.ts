/** What an application has used of one budget in the current window. Times in ms since the epoch. */
export type BudgetUse = {
  readonly endsAt: number;
  /** Everything reserved in the window; never more than the budget. */
  readonly used: number;
  /** The number of reported look-ups that found something. */
  readonly hits: number;
  /** A request was rejected in this window because the budget was used up. */
  readonly exhausted: boolean;
  /** When the application last exceeded `suspectAbove` without a hit; kept across windows. */
  readonly suspectAt: number | null;
};

export type GuessBudget = {
  readonly max: number;
  readonly windowMs: number;
  /** More look-ups than this in a window without a single hit make the application suspect; null: never. */
  readonly suspectAbove: number | null;
};

export type ReservationRequest = {
  /** The number of look-ups that the caller needs now, at least 1. */
  readonly need: number;
  /** Whether to take more than that, for the next requests. */
  readonly spare: 'none' | 'block';
  /** Hits since the caller's last reservation. */
  readonly hits: number;
  readonly now: number;
};

/** The largest difference between the clocks of the processes that share a budget. */
export const clocksApartMs = 2_000;

export type Reservation = {
  /** At least `need`, or all that was left. */
  readonly granted: number;
  readonly endsAt: number;
  /** This reservation is the first of its window that was not granted in full. */
  readonly exhausts: boolean;
  /** The application became suspect with this reservation. */
  readonly suspects: boolean;
};

/** A reservation takes at most this many look-ups beyond its need, and at most a twentieth of the rest. */
const spareMax = 49;
const spareDivisor = 20;

/**
 * Takes a block of guesses from a budget. A window begins with the first reservation after the previous window has
 * ended. A window that ends more than a whole window from now began before the clock was set back, and no longer
 * counts.
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
