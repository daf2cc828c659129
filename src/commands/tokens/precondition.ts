/**
 * Returns whether an `If-Match` header matches this revision (RFC 9110, 13.1.1). The header is one entity tag, a list,
 * or `*`. Weak tags never match. Null means that there is no header, and always matches.
 */
export function preconditionHolds(ifMatch: string | null, revision: number): boolean {
  return ifMatch === null || namesRevision(ifMatch, revision);
}

/** Returns whether `*` or a list of strong entity tags names this revision. A tag may contain commas and asterisks. */
export function namesRevision(tags: string, revision: number): boolean {
  if (tags.trim() === '*') return true;
  return tags.match(/(?:W\/)?"[^"]*"/g)?.includes(entityTag(revision)) ?? false;
}

/** Returns the strong entity tag of a token at a revision of its stream. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}
