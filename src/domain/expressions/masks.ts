import { inRanges, type Steps } from '../steps.js';
import { type CodePoints, codePoints, lastCharacters, textOfCodePoints } from './characters.js';
import {
  character,
  count,
  type Filter,
  flag,
  optional,
  steppedTextFilter,
  textFilter,
  text as textParameter,
} from './filter.js';
import { limits } from './limits.js';
import type { Refusal } from './refusal.js';
import { tooBig } from './text-of.js';

/** Returns the last four characters, or the whole text if it is shorter. */
export function last4(text: string): string {
  return lastCharacters(text, 4);
}

const last4Filter = textFilter('last4', [], last4);

/**
 * `reveal_last: n, c` masks all characters except the last n and any `-`. A value of n or fewer characters is shown
 * unchanged, as clients of other vaults expect. Only the default masks for bank accounts hide such a value
 * (`hideShortValues`).
 */
const revealLast = steppedTextFilter(
  'reveal_last',
  [count, optional(character, 'X')],
  function* (text, [shownCount, maskCharacter], { hideShortValues }) {
    const all = yield* codePoints(text);
    if (all.length <= shownCount) {
      return hideShortValues ? yield* maskCharacters(all, maskCharacter, new Uint8Array(all.length)) : text;
    }
    const shown = yield* shownOf(all, '-');
    return yield* maskCharacters(all, maskCharacter, shown.fill(1, all.length - shownCount));
  },
);

/**
 * `reveal: first, last, c, keep` shows the first and the last characters of a value, and every character that occurs in
 * `keep`. It masks the other characters. If that would hide no letter or digit, the filter masks everything.
 */
const reveal = steppedTextFilter(
  'reveal',
  [optional(count, 0), optional(count, 0), optional(character, 'X'), optional(textParameter, '')],
  function* (text, [first, last, maskCharacter, keep]) {
    const all = yield* codePoints(text);
    const shown = (yield* shownOf(all, keep)).fill(1, 0, first);
    return yield* maskSomething(all, maskCharacter, shown.fill(1, Math.max(0, all.length - last)));
  },
);

/**
 * Returns the BIN: the first 6 digits of a number with fewer than 16 digits, or the first 8 digits of a longer number.
 * The result includes each `separator` that occurs among these digits, and omits all other characters. Returns null if
 * the BIN would be the whole number.
 */
export function cardBin(number: string, separator = ''): string | null {
  let digitCount = 0;
  for (let i = 0; i < number.length; i++) if (isDigitCode(number.charCodeAt(i))) digitCount++;
  const length = binLength(digitCount);
  if (digitCount <= length) return null;
  let bin = '';
  let taken = 0;
  for (const one of number) {
    if (taken === length) break;
    if (isDigit(one)) taken++;
    if (isDigit(one) || one === separator) bin += one;
  }
  return bin;
}

const cardBinFilter = textFilter('card_bin', [optional(character, '')], (text, [separator]) =>
  cardBin(text, separator),
);

/**
 * `card_mask: bin, last4, c, keep` shows the BIN if `bin` is true, the last four digits if `last4` is true, and every
 * character that occurs in `keep`. If that would hide no letter or digit, the filter masks everything.
 */
const cardMask = steppedTextFilter(
  'card_mask',
  [optional(flag, false), optional(flag, false), optional(character, 'X'), optional(textParameter, '')],
  function* (text, [showBin, showLast4, maskCharacter, keep]) {
    const all = yield* codePoints(text);
    const shown = yield* shownOf(all, keep);
    let digitCount = 0;
    yield* inRanges(all.length, (from, to) => {
      for (let i = from; i < to; i++) if (isDigitCode(all[i] ?? 0)) digitCount++;
    });
    const fromStart = showBin ? binLength(digitCount) : 0;
    const fromEnd = showLast4 ? digitCount - 4 : digitCount;
    let digit = 0;
    yield* inRanges(all.length, (from, to) => {
      for (let i = from; i < to; i++) {
        if (!isDigitCode(all[i] ?? 0)) continue;
        if (digit < fromStart || digit >= fromEnd) shown[i] = 1;
        digit++;
      }
    });
    return yield* maskSomething(all, maskCharacter, shown);
  },
);

/**
 * Returns the number of digits in the BIN: 6 for a number with fewer than 16 digits, otherwise 8 (docs/contract.md,
 * "Filters").
 */
export function binLength(digitCount: number): number {
  return digitCount < 16 ? 6 : 8;
}

export function isDigit(character: string): boolean {
  return character.length === 1 && character >= '0' && character <= '9';
}

/** Returns whether a code point is an ASCII digit. */
function isDigitCode(codePoint: number): boolean {
  return codePoint >= 0x30 && codePoint <= 0x39;
}

export function digitPositions(all: readonly string[]): number[] {
  const positions: number[] = [];
  for (const [i, one] of all.entries()) if (isDigit(one)) positions.push(i);
  return positions;
}

/**
 * Returns a flag for each code point in a value: 1 if the code point occurs in `keep`, otherwise 0. Uses tables and
 * loops instead of a function call per character, because a value may have 500,000 characters.
 */
function* shownOf(all: CodePoints, keep: string): Steps<Uint8Array> {
  const shown = new Uint8Array(all.length);
  if (keep === '') return shown;
  const points = yield* codePoints(keep);
  const kept = new Set(points);
  const keptAscii = new Uint8Array(0x80);
  for (const point of points) if (point < 0x80) keptAscii[point] = 1;
  yield* inRanges(all.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const code = all[i] ?? 0;
      if (code < 0x80 ? keptAscii[code] === 1 : kept.has(code)) shown[i] = 1;
    }
  });
  return shown;
}

/**
 * Puts the mask character in place of each code point whose flag in `shown` is 0. Refuses a result of more than 512
 * KiB. The mask character may take more bytes than the characters that it replaces, so the size is computed first.
 */
function* maskCharacters(all: CodePoints, maskCharacter: string, shown: Uint8Array): Steps<string | Refusal> {
  const mask = maskCharacter.codePointAt(0) ?? 0;
  const fitsBytes = all instanceof Uint8Array && mask < 0x100;
  const masked = (fitsBytes ? new Uint8Array(all.length) : new Uint32Array(all.length)).fill(mask);
  yield* inRanges(all.length, (from, to) => {
    for (let i = from; i < to; i++) if (shown[i] === 1) masked[i] = all[i] ?? 0;
  });
  // No character takes more than four bytes, so only a long value can exceed the limit and must be measured.
  const mayNotFit = 4 * masked.length > limits.resultBytesMax;
  if (mayNotFit && (yield* bytesOf(masked)) > limits.resultBytesMax) return tooBig();
  return yield* textOfCodePoints(masked);
}

/**
 * Does the same as `maskCharacters`, but masks everything if no letter or digit would be hidden. Threat: a mask that
 * hides nothing, or hides only separators, gives the value to a caller that may see only masked data (docs/contract.md,
 * "Filters").
 */
function* maskSomething(all: CodePoints, maskCharacter: string, shown: Uint8Array): Steps<string | Refusal> {
  let hidesSomething = false;
  yield* inRanges(all.length, (from, to) => {
    for (let i = from; i < to && !hidesSomething; i++) hidesSomething = shown[i] === 0 && isLetterOrDigit(all[i] ?? 0);
  });
  return yield* maskCharacters(all, maskCharacter, hidesSomething ? shown : new Uint8Array(all.length));
}

/**
 * Returns whether a code point is a letter or a digit. Most values are ASCII, and comparing ASCII codes is several
 * times as fast as a regular expression.
 */
function isLetterOrDigit(code: number): boolean {
  if (code < 0x80) return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  return /[\p{L}\p{N}]/u.test(String.fromCodePoint(code));
}

/** Returns the size of the text in UTF-8 bytes. */
function* bytesOf(all: CodePoints): Steps<number> {
  let bytes = 0;
  yield* inRanges(all.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const code = all[i] ?? 0;
      bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    }
  });
  return bytes;
}

/** The filters that hide part of a value. */
export const maskFilters: readonly Filter[] = [last4Filter, revealLast, reveal, cardBinFilter, cardMask];
