import { grantsAnywhere } from '../domain/access/decide-access.js';
import type { Permission } from '../domain/access/permission.js';
import { permissionMissing } from '../http/problem/problem.js';
import type { Visit } from './page.js';

/**
 * Throws Problem 403 unless the caller has a permission. Use this for a permission that is required in addition to the
 * page's own permission.
 */
export function requirePermission({ caller }: Pick<Visit, 'caller'>, permission: Permission): void {
  if (!grantsAnywhere(caller, permission)) throw permissionMissing([permission]);
}
