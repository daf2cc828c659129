import type { Caller } from './caller.js';
import { transformFor, transformForEach } from './decide-access.js';
import { type TokenPermission, tokenPermissions } from './permission.js';
import { openness, strictest, type Transform } from './transform.js';

/**
 * Returns the transform that applies when the caller's update moves a token from one set of containers to another, or
 * null if the caller may not move it. In that case, the request fails with 403. See docs/contract.md, "Moving a token":
 * - The caller needs `token:update` on the token, and also on each added or removed container. The result is the
 *   strictest of the transforms that these permissions give.
 * - A move must not widen access: the caller must gain neither a permission that it lacked on the token nor a less
 *   strict transform. Threat: a caller moves a token to a container that lets the caller see more of the token.
 *
 * Reordering the same containers is not a move.
 */
export function decideMove(caller: Caller, before: readonly string[], after: readonly string[]): Transform | null {
  const granted = transformFor(caller, 'token:update', before);
  const changed = [...missing(before, after), ...missing(after, before)];
  if (granted === null || changed.length === 0) return granted;
  if (permissionsOnToken.some((permission) => widens(caller, permission, before, after))) return null;
  return strictest(granted, transformForEach(caller, 'token:update', changed));
}

/** `token:create` has no meaning for an existing token, so a move ignores it. */
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
