/** A position of the log or a sequence as eight bytes, which compare as the numbers do, and back. */
export function positionBytes(position: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(position));
  return bytes;
}

export function positionIn(bytes: Buffer): number {
  return Number(bytes.readBigUInt64BE());
}
