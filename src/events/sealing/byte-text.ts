/**
 * Returns bytes as a byte string: a string with one character per byte (Latin-1). A byte string is much cheaper to
 * create than a buffer, because the memory of a buffer is outside the JavaScript heap.
 */
export function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
