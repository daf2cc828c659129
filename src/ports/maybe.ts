/** A value that is available now, or a promise of that value. */
export type Maybe<T> = T | Promise<T>;

/**
 * Calls `next` with the value, either immediately or, if the value is a promise, when the promise resolves. A read that
 * finds everything in memory therefore creates no promises.
 */
export function after<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns all values. Returns a promise only if some of them are not available yet. */
export function all<T>(values: readonly Maybe<T>[]): Maybe<readonly T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}
