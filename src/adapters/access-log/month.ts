/** A calendar month in UTC, `2026-11`: one file or collection of the access log. Months compare as texts. */
export type Month = string;

/** Every entry is asked for its month, and nearly all are of the one that was asked for last. */
let last = { from: 0, until: 0, month: '' };

export function monthOf(ms: number): Month {
  // Written so that what is no time is refused below, and never has the month of another.
  if (!(ms >= last.from && ms < last.until)) {
    const date = new Date(ms);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    last = { from: Date.UTC(year, month), until: Date.UTC(year, month + 1), month: date.toISOString().slice(0, 7) };
  }
  return last.month;
}
