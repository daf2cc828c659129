// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with the controls
const ascii = /^[\x00-\x7f]*$/;

/** Returns whether the UTF-8 bytes of a text are its characters. */
export function isAscii(text: string): boolean {
  return ascii.test(text);
}

/**
 * Returns bytes as a text with one character for each byte (latin1). Such a text costs a fraction of a buffer, whose
 * memory is outside of the JavaScript heap.
 */
export function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
