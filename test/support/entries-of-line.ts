import type { AccessEntry } from '#src/events/access-log/access-entry.js';
import { parseLines } from '#src/events/access-log/batch-hash.js';

/** Returns the entries of lines of the access log. The first line must be one that can begin a batch. */
export function entriesOfLines(lines: readonly string[]): AccessEntry[] {
  const parsed = parseLines(lines);
  if (parsed === null) throw new Error('the lines are not what `linesOf` returns');
  return parsed.flatMap(({ shared, refs }) => refs.map((entityRef) => ({ ...shared, entityRef })));
}
