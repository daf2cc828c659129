import { grantsAnywhere } from '../domain/access/decide-access.js';
import type { Permission } from '../domain/access/permission.js';
import { permissionMissing } from '../http/problem/problem.js';
import type { Visit } from './page.js';

/**
 * Throws Problem 403 if the caller does not have the permission. Use it for a permission that is required in addition
 * to the page's permission.
 */
export function requirePermission({ caller }: Pick<Visit, 'caller'>, permission: Permission): void {
  if (!grantsAnywhere(caller, permission)) throw permissionMissing([permission]);
}
