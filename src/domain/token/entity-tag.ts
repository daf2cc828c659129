/**
 * Returns true if an `If-Match` header matches this revision (RFC 9110, 13.1.1). The header is `*`, one entity tag, or
 * a list of entity tags. Weak entity tags never match. If the request has no such header, pass null. Null matches every
 * revision.
 */
export function preconditionHolds(ifMatch: string | null, revision: number): boolean {
  return ifMatch === null || namesRevision(ifMatch, revision);
}

/**
 * Returns true if `tags` is `*` or a list that contains the strong entity tag of this revision. A tag may contain
 * commas and asterisks. A member of the list that is not a whole tag matches nothing, like a weak tag.
 */
export function namesRevision(tags: string, revision: number): boolean {
  return tags.trim() === '*' || membersOf(tags).includes(entityTag(revision));
}

/** Like `namesRevision`, but a weak tag matches as well (RFC 9110, 13.1.2). */
export function weaklyNamesRevision(tags: string, revision: number): boolean {
  return namesRevision(tags, revision) || membersOf(tags).includes(`W/${entityTag(revision)}`);
}

/**
 * Returns the members of a list. A comma inside quotes is part of a member. If a quote is not closed, leaves out the
 * rest of the list, because it is unclear where its members begin.
 */
function membersOf(tags: string): readonly string[] {
  return Array.from(tags.matchAll(/((?:"[^"]*"|[^",])*)(?:,|$)/gy), ([, member = '']) => member.trim());
}

/** Returns the strong entity tag of a token at a revision of its stream. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}
