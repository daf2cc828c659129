const monthsKept = 13;

/**
 * Returns the start (ms) of the oldest calendar month (UTC) that a verification at the time `now` expects in the access
 * log. It is a month later than `keptFrom`, so the month that is dropped next may be missing.
 */
export function mustContainFrom(now: number): number {
  const today = new Date(now);
  return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsKept + 1, 1);
}

/** Returns the start (ms) of the oldest calendar month (UTC) that the access log still contains at the time `now`. */
export function keptFrom(now: number): number {
  const today = new Date(now);
  return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsKept, 1);
}
