import type { Permission, TokenPermission } from './permission.js';
import type { Transform } from './transform.js';

/**
 * What an application may do: plain permissions on every token, or rules for containers. See docs/contract.md,
 * "Transforms" and "Access rules".
 */
export type Access =
  | { readonly kind: 'permissions'; readonly permissions: ReadonlySet<Permission> }
  /** In the given order. `decidingRule` applies the priority. */
  | { readonly kind: 'rules'; readonly rules: readonly AccessRule[] };

/**
 * A rule that grants permissions on the tokens under one container and sets what is shown of them. See
 * docs/contract.md, "Access rules".
 */
export type AccessRule = {
  /** Empty if the caller gave none. */
  readonly description: string;
  /** Rules with a lower priority come first, and rules with equal priority in the given order. */
  readonly priority: number;
  /** Lower case, starts and ends with `/`. Covers its children. */
  readonly container: string;
  readonly transform: Transform;
  readonly permissions: readonly TokenPermission[];
};
