import type { ApplicationDocument } from './documents.js';
import { heldManagementPermissions } from './management-permissions.js';
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

/** Whether a change of one application (null: its deletion) would leave nobody to administrate. Contract, section 10. */
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
