/**
 * Returns bytes as a byte string: a string with one character per byte (Latin-1). A byte string is much cheaper to
 * create than a buffer, because the memory of a buffer is outside the JavaScript heap.
 */
export function textOfBytes(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString('latin1');
}

/**
 * Returns the bytes of a byte string in a dedicated buffer. V8 keeps the bytes of such a buffer in its heap if there
 * are at most 64 of them. A native function that returned a buffer would allocate separate memory for them, which takes
 * longer than hashing them.
 */
export function bytesOfText(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
