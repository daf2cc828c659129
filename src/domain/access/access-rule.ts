import type { Permission, TokenPermission } from './permission.js';
import type { Transform } from './transform.js';

/**
 * What an application may do: plain permissions on every token, or rules for containers. See docs/contract.md,
 * "Transforms" and "Access rules".
 */
export type Access =
  | { readonly kind: 'permissions'; readonly permissions: ReadonlySet<Permission> }
  /** In the order in which they were given; `decidingRule` heeds the priority. */
  | { readonly kind: 'rules'; readonly rules: readonly AccessRule[] };

/**
 * Grants permissions on the tokens under one container, and says what is shown of them. See docs/contract.md, "Access
 * rules".
 */
export type AccessRule = {
  /** Empty when the caller gave none. */
  readonly description: string;
  /** Lower ones are tried first; equal ones in their order. */
  readonly priority: number;
  /** Lower case, starts and ends with `/`; covers its children. */
  readonly container: string;
  readonly transform: Transform;
  readonly permissions: readonly TokenPermission[];
};
