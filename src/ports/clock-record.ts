/**
 * The vault's record of its clock. The key store keeps it, so that restoring the data does not bring back an older
 * record.
 */
export type ClockRecord = {
  /** The newest reading, whether or not it was trusted; ms since the epoch. */
  readonly newest: number;
  /** `Clock.codesAhead`. */
  readonly codesAhead: number;
  /** Null if the clock is trusted. */
  readonly hold: ClockHold | null;
};

export type ClockHold = {
  /** The newest time that the vault recorded before the untrusted reading; ms since the epoch. */
  readonly trusted: number;
  /** The same time on the time scale for verification codes. */
  readonly trustedForCodes: number;
  /** How long the vault has run since that time, in ms. */
  readonly ran: number;
  /** How much of the 24-hour hold has passed, in ms. Time during which the vault was stopped does not count. */
  readonly elapsed: number;
};

/** Where the record is stored. */
export type ClockRecords = {
  /** Returns the record, or null if there is none yet. */
  load(): Promise<ClockRecord | null>;
  /** Stores the record, which is durable when the promise resolves. */
  save(record: ClockRecord): Promise<void>;
};

/** Encodes a record for its store. */
export function encodeClockRecord(record: ClockRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}

/** Decodes a stored record. Throws SyntaxError if the bytes are not JSON. */
export function decodeClockRecord(bytes: Buffer): ClockRecord {
  return JSON.parse(bytes.toString('utf8')) as ClockRecord;
}
