import { type ManagementPermission, managementPermissions } from '../access/permission.js';
import type { AccessDocument } from './documents.js';

/** The management permissions that an access grants; rules grant none. */
export function heldManagementPermissions(access: AccessDocument): readonly ManagementPermission[] {
  if (access.kind === 'rules') return [];
  return managementPermissions.filter((permission) => access.permissions.includes(permission));
}

/** Whether `holder` holds every management permission that `other` grants. Contract, section 10. */
export function holdsAllOf(holder: AccessDocument, other: AccessDocument): boolean {
  const held = heldManagementPermissions(holder);
  return heldManagementPermissions(other).every((permission) => held.includes(permission));
}
