import type { Permission, TokenPermission } from './permission.js';
import type { Transform } from './transform.js';

/**
 * An application's access: either plain permissions on every token, or rules for containers. See docs/contract.md,
 * "Transforms" and "Access rules".
 */
export type Access =
  | { readonly kind: 'permissions'; readonly permissions: ReadonlySet<Permission> }
  /** Rules are in request order. `decidingRule` applies the priorities. */
  | { readonly kind: 'rules'; readonly rules: readonly AccessRule[] };

/**
 * A rule that grants permissions on the tokens in or below one container, and determines how much of these tokens is
 * shown. See docs/contract.md, "Access rules".
 */
export type AccessRule = {
  /** Empty if the request does not contain a description. */
  readonly description: string;
  /** Rules with a lower priority come first. Rules with equal priority keep their request order. */
  readonly priority: number;
  /** Lower case, with `/` at both ends. The rule also covers the container's children. */
  readonly container: string;
  readonly transform: Transform;
  readonly permissions: readonly TokenPermission[];
};
