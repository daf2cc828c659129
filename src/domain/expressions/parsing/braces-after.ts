/** How many `{` of the text are open after this piece of it; -1 when a `}}` closes more than was opened. */
export function bracesAfter(text: string, openBefore: number): number {
  let open = openBefore;
  for (const [braces] of text.matchAll(/\{+|\}+/g)) {
    if (braces.startsWith('{')) open += braces.length;
    else if (braces.length >= 2 && braces.length > open) return -1;
    else open = Math.max(0, open - braces.length);
  }
  return open;
}
