/**
 * Whether an `If-Match` names this revision (RFC 9110, 13.1.1): one entity tag, a list, or `*`. Weak tags never match.
 * Null, no header, always holds.
 */
export function preconditionHolds(ifMatch: string | null, revision: number): boolean {
  return ifMatch === null || namesRevision(ifMatch, revision);
}

/** Whether `*` or a list of strong entity tags names this revision. A tag may hold commas and asterisks itself. */
export function namesRevision(tags: string, revision: number): boolean {
  if (tags.trim() === '*') return true;
  return tags.match(/(?:W\/)?"[^"]*"/g)?.includes(entityTag(revision)) ?? false;
}

/** The strong entity tag of a token at a revision of its stream. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}
