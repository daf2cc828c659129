import type { TokenPermission } from './permission.js';
import type { Transform } from './transform.js';

/** Grants permissions on the tokens under one container, and says what is shown of them. Contract, section 4. */
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
