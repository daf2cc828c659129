/**
 * Returns bytes as a text with one character for each byte (latin1). Such a text costs a fraction of a buffer, whose
 * memory is outside of the JavaScript heap.
 */
export function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
