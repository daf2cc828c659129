import type { Permission, TokenPermission } from './permission.js';
import type { Transform } from './transform.js';

/**
 * An application's access. It consists either of plain permissions, which apply to every token, or of access rules,
 * which apply to the tokens in certain containers. See docs/contract.md, "Transforms" and "Access rules".
 */
export type Access =
  | { readonly kind: 'permissions'; readonly permissions: ReadonlySet<Permission> }
  /** The rules are in the order of the request. `decidingRule` takes their priorities into account. */
  | { readonly kind: 'rules'; readonly rules: readonly AccessRule[] };

/**
 * A rule that grants permissions on the tokens in or below one container, and determines how much of each token's data
 * is shown. See docs/contract.md, "Access rules".
 */
export type AccessRule = {
  /** The empty string if the request that set the rule contained no description. */
  readonly description: string;
  /**
   * A rule with a lower number takes precedence. If several rules have the same number, the first of them in the
   * request takes precedence.
   */
  readonly priority: number;
  /** The container's path in lower case, with `/` at both ends. The rule also covers all containers below it. */
  readonly container: string;
  readonly transform: Transform;
  readonly permissions: readonly TokenPermission[];
};
