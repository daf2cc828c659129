/**
 * A calendar month in UTC, such as `2026-11`. The access log has one SQLite file or one MongoDB collection per month.
 * Comparing two months as strings gives their chronological order.
 */
export type Month = string;

/**
 * The month that `monthOf` returned last, with its start and end in ms. Cached because nearly every entry belongs to
 * the same month as the entry before it.
 */
let last = { from: 0, until: 0, month: '' };

export function monthOf(ms: number): Month {
  // The condition is negated because every comparison with NaN is false. NaN therefore never gets the cached month, and
  // `toISOString` throws.
  if (!(ms >= last.from && ms < last.until)) {
    const date = new Date(ms);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    last = { from: Date.UTC(year, month), until: Date.UTC(year, month + 1), month: date.toISOString().slice(0, 7) };
  }
  return last.month;
}
