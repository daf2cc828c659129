import { damagedFile } from './database-error.js';

/**
 * Encodes a non-negative integer, such as a log position or a time in ms, as eight bytes that sort in numeric order.
 * `numberIn` is the inverse.
 */
export function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** Throws StoreBroken if `numberBytes` did not encode these bytes. Only `keys.db` contains such numbers. */
export function numberIn(bytes: Buffer): number {
  const value = bytes.length < 8 ? Number.NaN : Number(bytes.readBigUInt64BE());
  if (Number.isSafeInteger(value)) return value;
  throw damagedFile('keys.db', 'a number in it is impossible');
}
