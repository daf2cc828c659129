/**
 * Returns true if an `If-Match` header matches this revision (RFC 9110, 13.1.1). The header is `*`, one entity tag, or
 * a list of entity tags. Weak entity tags never match. If the request has no such header, pass null. Null matches every
 * revision.
 */
export function preconditionHolds(ifMatch: string | null, revision: number): boolean {
  return ifMatch === null || namesRevision(ifMatch, revision);
}

/**
 * Returns true if `tags` is `*` or contains the strong entity tag of this revision. A tag may contain commas and
 * asterisks.
 */
export function namesRevision(tags: string, revision: number): boolean {
  if (tags.trim() === '*') return true;
  return tags.match(/(?:W\/)?"[^"]*"/g)?.includes(entityTag(revision)) ?? false;
}

/** Returns the strong entity tag of a token at a revision of its stream. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}
