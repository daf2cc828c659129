/** The only source of time: milliseconds since the epoch. Tests own it. */
export interface Clock {
  now(): number;
}
