/**
 * The vault's record of its clock. The record is in the key store, so restoring the data does not bring back an older
 * record.
 */
export type ClockRecord = {
  /** The time that the clock showed when the record was made, in ms since the epoch, even if it was not trusted. */
  readonly newest: number;
  /** The value of `Clock.codesAhead` when the record was made. */
  readonly codesAhead: number;
  /** The current hold. Null if the clock is trusted. */
  readonly hold: ClockHold | null;
};

export type ClockHold = {
  /** The newest trusted time at the beginning of the hold, in ms since the epoch. */
  readonly trusted: number;
  /** The same time as `trusted`, but on the time scale for verification codes. */
  readonly trustedForCodes: number;
  /** How long the vault has been running since `trusted`, in ms. */
  readonly ran: number;
  /** How much of the 24-hour hold has passed, in ms. Only the time during which the vault was running counts. */
  readonly elapsed: number;
};

/** The store for the clock record. */
export type ClockRecords = {
  /** Returns the record, or null if no record has been stored yet. */
  load(): Promise<ClockRecord | null>;
  /**
   * Stores the record. It is durable once the promise resolves. If several processes share the store, `codesAhead` never
   * becomes smaller.
   */
  save(record: ClockRecord): Promise<void>;
};

/** Encodes a record for storage. */
export function encodeClockRecord(record: ClockRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}

/** Decodes a stored record. Throws SyntaxError if the bytes are not JSON. */
export function decodeClockRecord(bytes: Buffer): ClockRecord {
  return JSON.parse(bytes.toString('utf8')) as ClockRecord;
}
