/** The number of whole calendar months that the access log contains, besides the current one. */
const monthsKept = 13;

/**
 * Returns the start (ms) of the oldest calendar month (UTC) that a verification at the time `now` expects in the access
 * log. It is a month later than `keptFrom`, on purpose: a verification that begins before the end of a month may read
 * the access log after it, when the service has dropped the oldest month.
 */
export function mustContainFrom(now: number): number {
  return startOfMonth(now, monthsKept - 1);
}

/**
 * Returns the start (ms) of the oldest calendar month (UTC) that the access log still contains at the time `now`. The
 * service drops every earlier month. A verification uses `mustContainFrom` instead.
 */
export function keptFrom(now: number): number {
  return startOfMonth(now, monthsKept);
}

/** Returns the start of the calendar month that was `monthsAgo` months before the month of `now`. */
function startOfMonth(now: number, monthsAgo: number): number {
  const today = new Date(now);
  return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsAgo, 1);
}
