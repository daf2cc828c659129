import { limits } from '../limits.js';
import type { Refusal } from '../refusal.js';
import { tooBig } from '../text-of.js';

/**
 * Replaces every character that `isShown` does not let through. Refused over 512 KiB: the mask character may take more
 * bytes than what it hides, so the size is added up first.
 */
export function maskCharacters(
  all: readonly string[],
  maskCharacter: string,
  isShown: (index: number, character: string) => boolean,
): string | Refusal {
  const masked = all.map((character, index) => (isShown(index, character) ? character : maskCharacter));
  // No character takes more than four bytes, so only a long value needs counting.
  const mayNotFit = 4 * masked.length > limits.resultBytesMax;
  return mayNotFit && bytesOf(masked) > limits.resultBytesMax ? tooBig() : masked.join('');
}

/**
 * The same, but hides everything when it would hide no letter and no digit: a mask that hides nothing, or nothing but
 * separators, would show the value (contract, section 5).
 */
export function maskSomething(
  all: readonly string[],
  maskCharacter: string,
  isShown: (index: number, character: string) => boolean,
): string | Refusal {
  const hidesSomething = all.some((character, index) => !isShown(index, character) && isLetterOrDigit(character));
  return maskCharacters(all, maskCharacter, hidesSomething ? isShown : () => false);
}

/** ASCII, which most values are, is told without a regular expression: that is several times as fast. */
function isLetterOrDigit(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code < 0x80) return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  return /[\p{L}\p{N}]/u.test(character);
}

/** Bytes of UTF-8, a character at a time: `Buffer.byteLength` is slow on single characters. */
function bytesOf(all: readonly string[]): number {
  let bytes = 0;
  for (const character of all) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
