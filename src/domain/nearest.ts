/**
 * Returns the candidate that is closest to the text, measured by `distance`. If several candidates are equally close,
 * returns the first of them.
 */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates.map((candidate) => ({ candidate, steps: distance(text, candidate) }));
  return ranked.sort((a, b) => a.steps - b.steps)[0]?.candidate;
}

/** Returns true if a person may have meant one name and typed the other: at most every third letter differs. */
export function isNear(typed: string, known: string): boolean {
  return distance(typed, known) <= Math.max(1, Math.floor(Math.min(typed.length, known.length) / 3));
}

/**
 * Returns how many characters must be changed, added or removed, or swapped with the next one. Computed row by row.
 * Such a swap is the most common typo.
 */
function distance(a: string, b: string): number {
  const letters = [...a];
  let previous: readonly number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of letters.entries()) {
    const current = [row + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const changed = (above[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1);
      const isSwapped = letter === b[column - 2] && letters[row - 1] === b[column - 1];
      const swapped = isSwapped ? (previous[column - 2] ?? 0) + 1 : changed;
      current.push(Math.min(changed, swapped, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = above;
    above = current;
  }
  return above[b.length] ?? 0;
}
