/** A calendar month in UTC, `2026-11`: one file or collection of the access log. Months compare as texts. */
export type Month = string;

export function monthOf(ms: number): Month {
  return new Date(ms).toISOString().slice(0, 7);
}
