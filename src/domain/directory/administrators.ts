import { type ManagementPermission, managementPermissions } from '../access/permission.js';
import type { AccessDocument, ApplicationDocument } from './documents.js';
import type { TenantDirectory } from './tenant-directory.js';

/**
 * Whether the tenant can count on this application to administrate it: it may create and update applications, has a key
 * to do it with, and does not expire. One that expires counts for nothing here, or the tenant would be left without
 * anybody on that day.
 */
export function isLastingAdministrator({ access, expires_at: expiresAt, keys }: ApplicationDocument): boolean {
  const held = heldManagementPermissions(access);
  return (
    held.includes('application:create') && held.includes('application:update') && expiresAt === null && keys.length > 0
  );
}

/**
 * Whether a change of one application (null: its deletion) would leave nobody to administrate. See docs/contract.md,
 * "Management rights".
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

/** The management permissions that an access grants; rules grant none. */
export function heldManagementPermissions(access: AccessDocument): readonly ManagementPermission[] {
  if (access.kind === 'rules') return [];
  return managementPermissions.filter((permission) => access.permissions.includes(permission));
}

/**
 * Whether `holder` holds every management permission that `other` grants. See docs/contract.md, "Management rights".
 */
export function holdsAllOf(holder: AccessDocument, other: AccessDocument): boolean {
  const held = heldManagementPermissions(holder);
  return heldManagementPermissions(other).every((permission) => held.includes(permission));
}
