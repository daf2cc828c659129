/**
 * Whether an `If-Match` names this revision (RFC 9110, 13.1.1): one entity tag, a list, or `*`. Weak tags never match.
 * Null, no header, always holds.
 */
export function preconditionHolds(ifMatch: string | null, revision: number): boolean {
  return ifMatch === null || namesRevision(ifMatch, revision);
}

/** Whether a list of entity tags names this revision. */
export function namesRevision(tags: string, revision: number): boolean {
  return tags.split(',').some((tag) => tag.trim() === '*' || tag.trim() === entityTag(revision));
}

/** The strong entity tag of a token at a revision of its stream. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}
