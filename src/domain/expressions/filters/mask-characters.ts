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
  const maskBytes = Buffer.byteLength(maskCharacter);
  const shown = all.map((character, index) => isShown(index, character));
  let size = 0;
  for (const [index, character] of all.entries()) size += shown[index] ? Buffer.byteLength(character) : maskBytes;
  if (size > limits.resultBytesMax) return tooBig();
  return all.map((character, index) => (shown[index] ? character : maskCharacter)).join('');
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
  const hidesSomething = all.some((character, index) => !isShown(index, character) && /[\p{L}\p{N}]/u.test(character));
  return maskCharacters(all, maskCharacter, hidesSomething ? isShown : () => false);
}
