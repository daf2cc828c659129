/** The Unicode code points of a text: masks count and replace these, so that an emoji is never cut in half. */
export function characters(text: string): string[] {
  return Array.from(text);
}

/** The same as numbers, for long texts: an array of 500,000 strings takes ten times as long to make. */
export function codePoints(text: string): Uint32Array {
  const all = new Uint32Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) ?? 0;
    all[length++] = code;
    if (code > 0xffff) i++;
  }
  return all.subarray(0, length);
}

/** The last `count` code points; a shorter text is returned whole. Looks at the end of the text only. */
export function lastCharacters(text: string, count: number): string {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) start -= isPairAt(text, start - 2) ? 2 : 1;
  return text.slice(start);
}

/** Code points from `start` to `start + length`; a negative start counts from the end. Nothing before the beginning. */
export function charactersBetween(text: string, start: number, length: number): string {
  const end = start < 0 ? text.length - lastCharacters(text, -start).length : indexAfter(text, 0, start);
  // A start before the first code point finds nothing.
  if (start < 0 && lengthFrom(text, end, -start) < -start) return '';
  return text.slice(end, indexAfter(text, end, length));
}

/** The index after `count` code points from an index. */
function indexAfter(text: string, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1;
  return at;
}

/** How many code points follow an index, counted up to `max`. */
function lengthFrom(text: string, from: number, max: number): number {
  let count = 0;
  for (let at = from; at < text.length && count < max; count++) at += isPairAt(text, at) ? 2 : 1;
  return count;
}

function isPairAt(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
