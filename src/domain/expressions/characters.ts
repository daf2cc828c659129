/** The Unicode code points of a text: masks count and replace these, so that an emoji is never cut in half. */
export function characters(text: string): string[] {
  return Array.from(text);
}

/** How many code points a text has, without an array of them. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if (isPairAt(text, i)) {
      count--;
      i++;
    }
  }
  return count;
}

/** The last `count` code points; a shorter text is returned whole. Looks at the end of the text only. */
export function lastCharacters(text: string, count: number): string {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) start -= isPairAt(text, start - 2) ? 2 : 1;
  return text.slice(start);
}

function isPairAt(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
