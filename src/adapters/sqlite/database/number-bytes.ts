/** A whole number from 0, such as a position of the log or a time in ms, as eight bytes, which compare as the numbers do, and back. */
export function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

export function numberIn(bytes: Buffer): number {
  return Number(bytes.readBigUInt64BE());
}
