import { inRanges, type Steps } from '../steps.js';
import { latin1Bytes } from '../text.js';

/**
 * Returns the Unicode code points of a string. Masks count and replace code points, so that they never cut an emoji in
 * half.
 */
export function characters(text: string): string[] {
  return Array.from(text);
}

/** Code points as numbers. Most long strings are Latin-1, and each of their code points takes one byte. */
export type CodePoints = Uint8Array | Uint32Array;

/**
 * Returns the code points of a long string as a typed array. An array of 500,000 one-character strings would take ten
 * times as long to create.
 */
export function* codePoints(text: string): Steps<CodePoints> {
  const bytes = latin1Bytes(text);
  if (bytes !== null) return bytes;
  const all = new Uint32Array(text.length);
  let length = 0;
  let next = 0;
  yield* inRanges(text.length, (_, to) => {
    while (next < to) {
      const code = text.codePointAt(next) ?? 0;
      all[length++] = code;
      next += code > 0xffff ? 2 : 1;
    }
  });
  return all.subarray(0, length);
}

/**
 * Converts code points back to text. Many code points are converted in one call, because one call for each code point
 * would take ten times as long.
 */
export function* textOfCodePoints(all: CodePoints): Steps<string> {
  if (all instanceof Uint8Array) return Buffer.from(all.buffer, all.byteOffset, all.length).toString('latin1');
  const units = new Uint16Array(2 * all.length);
  let length = 0;
  yield* inRanges(all.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const code = all[i] ?? 0;
      if (code < 0x10000) units[length++] = code;
      else {
        units[length++] = 0xd7c0 + (code >> 10);
        units[length++] = 0xdc00 + (code & 0x3ff);
      }
    }
  });
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}

/** Returns the last `count` code points, or the whole text if it is shorter. Reads only the end of the text. */
export function lastCharacters(text: string, count: number): string {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) start -= isPairAt(text, start - 2) ? 2 : 1;
  return text.slice(start);
}

/** Returns the code points from `start` to `start + length`. A negative start counts from the end. */
export function charactersBetween(text: string, start: number, length: number): string {
  const end = start < 0 ? text.length - lastCharacters(text, -start).length : indexAfter(text, 0, start);
  // If the start is before the first code point, the result is empty.
  if (start < 0 && lengthFrom(text, end, -start) < -start) return '';
  return text.slice(end, indexAfter(text, end, length));
}

/** Returns the index that is `count` code points after the index `from`. */
function indexAfter(text: string, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1;
  return at;
}

/** Returns how many code points follow the index `from`. Stops counting at `max`. */
function lengthFrom(text: string, from: number, max: number): number {
  let count = 0;
  for (let at = from; at < text.length && count < max; count++) at += isPairAt(text, at) ? 2 : 1;
  return count;
}

function isPairAt(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
