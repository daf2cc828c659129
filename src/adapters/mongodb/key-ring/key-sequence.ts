import { Timestamp } from 'mongodb';

/** Two million inserts a second are told apart, and the number stays exact until the year 2106. */
const perSecond = 2 ** 21;

/**
 * The order of making, a number that rises with the server's time of each insert. The server gives it when the insert
 * arrives and shows the row moments later, so rows come to light almost in this order, whichever process made them.
 */
export function sequenceOf({ t, i }: Timestamp): number {
  return t * perSecond + i;
}

export function stampOf(sequence: number): Timestamp {
  return new Timestamp({ t: Math.floor(sequence / perSecond), i: sequence % perSecond });
}

/** The server replaces it by its own time. */
export const stampedByServer = new Timestamp({ t: 0, i: 0 });
