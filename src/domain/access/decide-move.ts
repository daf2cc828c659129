import type { Caller } from './caller.js';
import { transformFor, transformForEach } from './decide-access.js';
import { type TokenPermission, tokenPermissions } from './permission.js';
import { openness, strictest, type Transform } from './transform.js';

/**
 * Whether the caller may update a token and thereby take it from one set of containers to another, and what it gets
 * back of it; null: 403. docs/contract.md, "Moving a token":
 * - it needs `token:update` on the token, and by itself on each container added or removed; the strictest of these
 *   transforms counts;
 * - no move may widen: afterwards it may not hold a permission on the token that it lacked, nor a weaker transform. The
 *   threat is a caller that moves a token to where it may see more of it.
 *
 * The same containers in another order are no move.
 */
export function decideMove(caller: Caller, before: readonly string[], after: readonly string[]): Transform | null {
  const granted = transformFor(caller, 'token:update', before);
  const changed = [...missing(before, after), ...missing(after, before)];
  if (granted === null || changed.length === 0) return granted;
  if (permissionsOnToken.some((permission) => widens(caller, permission, before, after))) return null;
  return strictest(granted, transformForEach(caller, 'token:update', changed));
}

/** Nobody holds `token:create` on a token that is there already; it does not count in a move. */
const permissionsOnToken = tokenPermissions.filter((permission) => permission !== 'token:create');

function widens(
  caller: Caller,
  permission: TokenPermission,
  before: readonly string[],
  after: readonly string[],
): boolean {
  return openness(transformFor(caller, permission, after)) > openness(transformFor(caller, permission, before));
}

function missing(from: readonly string[], others: readonly string[]): readonly string[] {
  return from.filter((container) => !others.includes(container));
}
