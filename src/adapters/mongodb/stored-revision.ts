import type { Document } from 'mongodb';

/**
 * Returns a filter for documents whose revision is older than `revision`. Threat: an attacker removes the revision of a
 * row, or replaces it with another value. Such a row counts as older, so that writers overwrite it.
 */
export function olderThan(revision: number): Document {
  const isNumber = { $type: ['int', 'long', 'double'], $lte: Number.MAX_SAFE_INTEGER };
  return { $nor: [{ revision: { ...isNumber, $gte: revision }, 'revision.0': { $exists: false } }] };
}

/**
 * Returns the revision of a stored document. Returns -1 if there is no document, or if `olderThan` does not accept the
 * document's revision as a number.
 */
export function revisionIn(document: { readonly revision?: unknown } | null): number {
  const revision = document?.revision;
  return typeof revision === 'number' && revision <= Number.MAX_SAFE_INTEGER ? revision : -1;
}
