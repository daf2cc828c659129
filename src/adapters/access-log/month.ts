/** A calendar month in UTC, `2026-11`: one file or collection of the access log. Months compare as texts. */
export type Month = string;

/** Caches the last month: every entry needs its month, and nearly all have the same one as the entry before. */
let last = { from: 0, until: 0, month: '' };

export function monthOf(ms: number): Month {
  // In this form, NaN fails the comparison and is rejected below. It never gets the cached month.
  if (!(ms >= last.from && ms < last.until)) {
    const date = new Date(ms);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    last = { from: Date.UTC(year, month), until: Date.UTC(year, month + 1), month: date.toISOString().slice(0, 7) };
  }
  return last.month;
}
