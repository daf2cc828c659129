/**
 * Encodes a non-negative integer, such as a log position or a time in ms, as eight bytes that sort in numeric order.
 * `numberIn` is the inverse.
 */
export function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

export function numberIn(bytes: Buffer): number {
  return Number(bytes.readBigUInt64BE());
}
