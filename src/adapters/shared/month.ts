/**
 * A calendar month in UTC, such as `2026-11`. The access log has one SQLite file or one MongoDB collection per month.
 * Months can be compared as strings, because their alphabetical order is also their chronological order.
 */
export type Month = string;

/**
 * The month that `monthOf` returned last, with its start and end in ms. It is cached because almost every entry is from
 * the same month as the previous entry.
 */
let last = { from: 0, until: 0, month: '' };

export function monthOf(ms: number): Month {
  // The condition is negated so that NaN does not match the cached month. Every comparison with NaN is false, so NaN
  // enters this block, and `toISOString` throws.
  if (!(ms >= last.from && ms < last.until)) {
    const date = new Date(ms);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    last = { from: Date.UTC(year, month), until: Date.UTC(year, month + 1), month: date.toISOString().slice(0, 7) };
  }
  return last.month;
}
