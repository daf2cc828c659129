import type { Caller } from './caller.js';
import type { TokenPermission } from './permission.js';

/** The tokens that a permission covers: all tokens, or the tokens in or below any of these containers. */
export type Reach = 'everything' | readonly string[];

/**
 * Returns where the caller has a permission, as the containers of the rules that grant the permission. No returned
 * container is inside another. `transformFor` returns a transform for exactly the tokens in or below these containers.
 * See docs/contract.md, "Access rules".
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
