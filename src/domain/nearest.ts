/**
 * Returns the candidate that is closest to the text, measured by how many characters must be changed, added or removed.
 * If several candidates are equally close, returns the first of them.
 */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates.map((candidate) => ({ candidate, steps: distance(text, candidate) }));
  return ranked.sort((a, b) => a.steps - b.steps)[0]?.candidate;
}

/** Returns the Levenshtein distance: how many characters must be changed, added or removed. Computed row by row. */
export function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const changed = (above[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1);
      current.push(Math.min(changed, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
