/** The text of an object without what stands in quotes, where braces, brackets and dots mean nothing. */
export function unquoted(content: string): string {
  return content.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gsu, "''");
}

/** How deep round and square brackets stand inside each other. */
export function bracketDepth(unquotedContent: string): number {
  let depth = 0;
  let deepest = 0;
  for (const one of unquotedContent) {
    if (one === '[' || one === '(') depth++;
    if ((one === ']' || one === ')') && depth > 0) depth--;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
