/**
 * A calendar month in UTC, such as `2026-11`. The access log has one file or collection per month. Months compare as
 * strings.
 */
export type Month = string;

/** Caches the last month, because nearly every entry belongs to the same month as the entry before it. */
let last = { from: 0, until: 0, month: '' };

export function monthOf(ms: number): Month {
  // Written this way, the comparison fails for NaN, which therefore never gets the cached month and is rejected below.
  if (!(ms >= last.from && ms < last.until)) {
    const date = new Date(ms);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    last = { from: Date.UTC(year, month), until: Date.UTC(year, month + 1), month: date.toISOString().slice(0, 7) };
  }
  return last.month;
}
