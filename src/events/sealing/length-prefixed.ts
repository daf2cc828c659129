import { isWellFormed } from '../../domain/text.js';
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
    const bytes = Buffer.byteLength(part) === part.length ? part : textOfBytes(encoded(part));
    text += lengthOf(bytes) + bytes;
  }
  return text;
}

/**
 * Returns the text in UTF-8. A lone surrogate, which UTF-8 cannot encode, becomes the three bytes that UTF-8 would use
 * for its number (WTF-8). `Buffer.from` would encode every lone surrogate as U+FFFD. Threat: a caller stores a value or
 * names an id with a lone surrogate. If its hash were equal to the hash of other text, a delete would erase the wrong
 * token.
 */
function encoded(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (isWellFormed(text)) return bytes;
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) {
      // U+FFFD also takes three bytes.
      bytes[at] = 0xed;
      bytes[at + 1] = 0x80 | ((code >> 6) & 0x3f);
      bytes[at + 2] = 0x80 | (code & 0x3f);
    }
    if (code < 0x80) at += 1;
    else if (code < 0x800) at += 2;
    else at += code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function lengthOf({ length }: string): string {
  return String.fromCharCode(length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff);
}
