import type { AccessEntry } from '#src/events/access-log/access-entry.js';
import { parseLine } from '#src/events/access-log/batch-hash.js';

/** Returns the entries of a line of the access log. */
export function entriesOfLine(line: string): AccessEntry[] {
  const parsed = parseLine(line);
  if (parsed === null) throw new Error('the line is not one that `lineOf` returns');
  const { shared, refs } = parsed;
  return refs.map((entityRef) => ({ ...shared, entityRef }));
}
