/** The Unicode code points of a text: masks count and replace these, so that an emoji is never cut in half. */
export function characters(text: string): string[] {
  return Array.from(text);
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
