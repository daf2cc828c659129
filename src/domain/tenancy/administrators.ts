import { type ManagementPermission, managementPermissions } from '../access/permission.js';
import type { AccessDocument, ApplicationDocument } from './documents.js';
import type { TenantDirectory } from './tenant-directory.js';

/**
 * Returns whether this application can administer the tenant indefinitely: it may create and update applications, has a
 * key, and does not expire. An application that expires does not count, because the tenant would have no administrator
 * after the expiry.
 */
export function isLastingAdministrator({ access, expires_at: expiresAt, keys }: ApplicationDocument): boolean {
  const held = heldManagementPermissions(access);
  return (
    held.includes('application:create') && held.includes('application:update') && expiresAt === null && keys.length > 0
  );
}

/**
 * Returns whether a change to one application would leave the tenant without an administrator. `after` is the
 * application after the change, or null if the change deletes it. See docs/contract.md, "Management rights".
 */
export function leavesNoAdministrator(
  { applications }: TenantDirectory,
  changedId: string,
  after: ApplicationDocument | null,
): boolean {
  const before = applications.get(changedId);
  if (before === undefined || !isLastingAdministrator(before)) return false;
  if (after !== null && isLastingAdministrator(after)) return false;
  return ![...applications].some(([id, other]) => id !== changedId && isLastingAdministrator(other));
}

/**
 * Returns the management permissions granted by an application's access. Access rules grant no management permissions.
 */
export function heldManagementPermissions(access: AccessDocument): readonly ManagementPermission[] {
  if (access.kind === 'rules') return [];
  return managementPermissions.filter((permission) => access.permissions.includes(permission));
}

/**
 * Returns whether `holder` has all management permissions granted by `other`. See docs/contract.md, "Management
 * rights".
 */
export function holdsAllOf(holder: AccessDocument, other: AccessDocument): boolean {
  const held = heldManagementPermissions(holder);
  return heldManagementPermissions(other).every((permission) => held.includes(permission));
}
