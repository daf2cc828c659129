import type { Document } from 'mongodb';

/**
 * Returns a filter for documents whose revision is older than `revision`. Threat: an attacker removes the revision of a
 * row, or replaces it with another value. Such a row counts as older, so that writers overwrite it.
 */
export function olderThan(revision: number): Document {
  const isNumber = { $type: ['int', 'long', 'double'], $lte: Number.MAX_SAFE_INTEGER };
  return { $nor: [{ revision: { ...isNumber, $gte: revision }, 'revision.0': { $exists: false } }] };
}

/** Returns the revision of a stored document, or -1 if there is none or if it is not a number that `olderThan` counts. */
export function revisionIn(document: { readonly revision?: unknown } | null): number {
  const revision = document?.revision;
  return typeof revision === 'number' && revision <= Number.MAX_SAFE_INTEGER ? revision : -1;
}
