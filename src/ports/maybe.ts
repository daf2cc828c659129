/** A value that is at hand, or that must be waited for. */
export type Maybe<T> = T | Promise<T>;

/**
 * Calls `next` with the value: now if it is at hand, otherwise once it is. A read that finds everything in memory then
 * needs no promise for its steps.
 */
export function after<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns all values, at once if all of them are at hand. */
export function all<T>(values: readonly Maybe<T>[]): Maybe<readonly T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}
