/**
 * Returns bytes as a byte string: a string with one character per byte (Latin-1). A byte string costs a fraction of a
 * buffer, whose memory is outside the JavaScript heap.
 */
export function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
