import type { ManagementPermission } from '../access/permission.js';
import type { Actor } from './actor.js';
import { actorId } from './actor.js';
import { decideApplication } from './decide-application.js';
import { decideTenant } from './decide-tenant.js';
import type { DirectoryCommand } from './directory-command.js';
import { type DirectoryDecided, type DirectoryRejection, refused } from './directory-decision.js';
import type { ApplicationDocument } from './documents.js';
import { heldManagementPermissions } from './management-permissions.js';
import type { TenantDirectory } from './tenant-directory.js';

/** Who wants it, and when: milliseconds since the epoch. */
export type By = { readonly actor: Actor; readonly at: number };

const needed: Readonly<Record<DirectoryCommand['do'], ManagementPermission | 'operator'>> = {
  create_tenant: 'operator',
  update_tenant: 'tenant:update',
  delete_tenant: 'tenant:delete',
  create_application: 'application:create',
  update_application: 'application:update',
  delete_application: 'application:delete',
  issue_key: 'application:create',
  revoke_key: 'application:delete',
};

/**
 * Decides a command on the directory of a tenant: pure, no clock, no keys. Threat: a caller that was let in a moment ago
 * may have been cut since; so what it may do is read here once more, from the very revision that the events will follow.
 * Contract, section 10.
 */
export function decideDirectory(command: DirectoryCommand, by: By, directory: TenantDirectory): DirectoryDecided {
  const holder = by.actor.kind === 'operator' ? null : callerOf(by.actor, by.at, directory);
  if (typeof holder === 'string') return refused(holder);
  const permission = needed[command.do];
  if (holder !== null) {
    const held: readonly string[] = heldManagementPermissions(holder.access);
    if (!held.includes(permission)) return refused('permission_missing');
  }
  const stamp = { by: actorId(by.actor), at: by.at };
  if ('id' in command) return decideApplication(command, { holder, stamp }, directory);
  return decideTenant(command, stamp, directory);
}

function callerOf(
  { applicationId, keyId }: Extract<Actor, { kind: 'application' }>,
  at: number,
  { tenant, applications }: TenantDirectory,
): ApplicationDocument | Extract<DirectoryRejection, 'unauthenticated'> {
  const caller = applications.get(applicationId);
  if (tenant === null || caller === undefined || !caller.keys.some(({ id }) => id === keyId)) return 'unauthenticated';
  return caller.expires_at !== null && at >= caller.expires_at ? 'unauthenticated' : caller;
}
