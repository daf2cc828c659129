import type { Caller } from './caller.js';
import type { TokenPermission } from './permission.js';

/** The tokens covered by a permission: either all tokens, or the tokens in or below any of the listed containers. */
export type Reach = 'everything' | readonly string[];

/**
 * Returns the containers of the rules that grant a permission to the caller, or `everything` if the caller has the
 * permission on all tokens. No returned container is inside another returned container. `transformFor` returns a
 * transform only for tokens in or below these containers. See docs/contract.md, "Access rules".
 */
export function reachOf({ access }: Caller, permission: TokenPermission): Reach {
  if (access.kind === 'permissions') return access.permissions.has(permission) ? 'everything' : [];
  const granting = access.rules.filter(({ permissions }) => permissions.includes(permission));
  const containers = [...new Set(granting.map(({ container }) => container))];
  if (containers.includes('/')) return 'everything';
  return containers.filter((path) => !containers.some((other) => other !== path && path.startsWith(other)));
}

/** Returns whether everything within `inner` is also within `outer`. */
export function coversReach(outer: Reach, inner: Reach): boolean {
  if (outer === 'everything') return true;
  if (inner === 'everything') return false;
  return inner.every((path) => outer.some((container) => path.startsWith(container)));
}
