/** Each part with its length (4 bytes, big endian) before it, so that no two lists of parts give the same bytes. */
export function lengthPrefixed(parts: readonly string[]): Buffer {
  let size = 0;
  for (const part of parts) size += 4 + Buffer.byteLength(part);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) {
    const length = bytes.write(part, at + 4);
    bytes.writeUInt32BE(length, at);
    at += 4 + length;
  }
  return bytes;
}
