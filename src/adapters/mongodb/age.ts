/**
 * Returns a MongoDB expression that is true if the stored `time` is more than `ms` before the current time of MongoDB's
 * clock. It is also true if `time` is more than `ms` after the current time: MongoDB's clock was then set back, for
 * example because the former primary's clock was ahead. Without this, a lease or claim of a process that died would
 * last until the clock has caught up, which can take hours.
 */
export function isOlderThan(time: string, ms: number) {
  return { $or: [{ $lt: [time, { $subtract: ['$$NOW', ms] }] }, { $gt: [time, { $add: ['$$NOW', ms] }] }] };
}

/**
 * Returns a MongoDB expression that is true if a lease of `leaseMs` has expired. `until` is the stored time at which it
 * expires. It is also true if the lease began in the future (`isOlderThan`), or if `until` is not a date. Otherwise, no
 * process could ever acquire a lease whose document is damaged.
 */
export function leaseHasExpired(until: string, leaseMs: number) {
  // MongoDB compares values of different types by their types. Arithmetic with a value that is not a date would fail.
  return { $or: [{ $lt: [until, '$$NOW'] }, { $gt: [until, { $add: ['$$NOW', 2 * leaseMs] }] }] };
}
