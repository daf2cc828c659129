import { textOfBytes } from './byte-text.js';

/**
 * Returns the parts, each preceded by its length (4 bytes, big-endian), so that different lists of parts never produce
 * the same bytes.
 */
export function lengthPrefixed(parts: readonly string[]): Buffer {
  return Buffer.from(lengthPrefixedText(parts), 'latin1');
}

/** Returns the same bytes as `lengthPrefixed`, as a byte string. */
export function lengthPrefixedText(parts: readonly string[]): string {
  let text = '';
  for (const part of parts) {
    // Names and ids are usually ASCII, and each ASCII character is one byte.
    const bytes = Buffer.byteLength(part) === part.length ? part : textOfBytes(Buffer.from(part));
    text += lengthOf(bytes) + bytes;
  }
  return text;
}

function lengthOf({ length }: string): string {
  return String.fromCharCode(length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff);
}
