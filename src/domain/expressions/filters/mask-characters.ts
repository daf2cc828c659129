import { limits } from '../limits.js';
import type { Refusal } from '../refusal.js';
import { tooBig } from '../text-of.js';

/** Tells whether the code point at an index of the value stays as it is. */
type IsShown = (index: number, codePoint: number) => boolean;

/**
 * Replaces every code point that `isShown` does not let through. Returns a refusal for a result over 512 KiB: the mask
 * character may take more bytes than what it hides, so the size is added up first.
 */
export function maskCharacters(all: Uint32Array, maskCharacter: string, isShown: IsShown): string | Refusal {
  const mask = maskCharacter.codePointAt(0) ?? 0;
  // A loop, because `map` of a typed array takes several times as long.
  const masked = new Uint32Array(all.length);
  for (let i = 0; i < all.length; i++) {
    const codePoint = all[i] ?? 0;
    masked[i] = isShown(i, codePoint) ? codePoint : mask;
  }
  // No character takes more than four bytes, so only a long value needs counting.
  const mayNotFit = 4 * masked.length > limits.resultBytesMax;
  return mayNotFit && bytesOf(masked) > limits.resultBytesMax ? tooBig() : textOfCodePoints(masked);
}

/**
 * The same, but hides everything when it would hide no letter and no digit: a mask that hides nothing, or nothing but
 * separators, would show the value (contract, section 5).
 */
export function maskSomething(all: Uint32Array, maskCharacter: string, isShown: IsShown): string | Refusal {
  for (let i = 0; i < all.length; i++) {
    const codePoint = all[i] ?? 0;
    if (isLetterOrDigit(codePoint) && !isShown(i, codePoint)) return maskCharacters(all, maskCharacter, isShown);
  }
  return maskCharacters(all, maskCharacter, () => false);
}

/** Recognises ASCII, which most values are, without a regular expression, which is several times as fast. */
function isLetterOrDigit(code: number): boolean {
  if (code < 0x80) return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  return /[\p{L}\p{N}]/u.test(String.fromCodePoint(code));
}

/** Bytes as UTF-8. */
function bytesOf(all: Uint32Array): number {
  let bytes = 0;
  for (let i = 0; i < all.length; i++) {
    const code = all[i] ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** Joins through UTF-16 in a buffer: an array of 500,000 strings takes ten times as long. */
function textOfCodePoints(all: Uint32Array): string {
  const units = new Uint16Array(2 * all.length);
  let length = 0;
  for (let i = 0; i < all.length; i++) {
    const code = all[i] ?? 0;
    if (code < 0x10000) units[length++] = code;
    else {
      units[length++] = 0xd7c0 + (code >> 10);
      units[length++] = 0xdc00 + (code & 0x3ff);
    }
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}
