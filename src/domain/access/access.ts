import type { AccessRule } from './access-rule.js';
import type { Permission } from './permission.js';

/** What an application may do: plain permissions on every token, or rules for containers. Contract, section 4. */
export type Access =
  | { readonly kind: 'permissions'; readonly permissions: ReadonlySet<Permission> }
  /** In the order in which they were given; `decidingRule` heeds the priority. */
  | { readonly kind: 'rules'; readonly rules: readonly AccessRule[] };
