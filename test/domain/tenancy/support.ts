import { type ManagementPermission, managementPermissions } from '#src/domain/access/permission.js';
import type { Actor } from '#src/domain/tenancy/actor.js';
import type { ApplicationSpec } from '#src/domain/tenancy/application-spec.js';
import { decideDirectory } from '#src/domain/tenancy/decide-directory.js';
import type { DirectoryCommand } from '#src/domain/tenancy/directory-command.js';
import { evolveDirectory, noDirectory, type TenantDirectory } from '#src/domain/tenancy/tenant-directory.js';

export const operator: Actor = { kind: 'operator' };
export const at = Date.UTC(2026, 0, 31, 12);

/** Returns the application as an actor. If `keyId` is absent, the actor uses the key `<id>-1`. */
export function as(applicationId: string, keyId: string | null = `${applicationId}-1`): Actor {
  return { kind: 'application', applicationId, keyId };
}

export function manager(permissions: readonly ManagementPermission[] = managementPermissions): ApplicationSpec {
  return { name: 'manager', type: 'management', access: { kind: 'permissions', permissions }, expiresAt: null };
}

export const reader: ApplicationSpec = {
  name: 'reader',
  type: 'private',
  expiresAt: null,
  access: { kind: 'permissions', permissions: ['token:read'] },
};

export function create(id: string, spec: ApplicationSpec): DirectoryCommand {
  return { kind: 'create_application', id, spec, key: { id: `${id}-1`, hash: `hash of ${id}-1` } };
}

export function issue(id: string, keyId: string): DirectoryCommand {
  return { kind: 'issue_key', id, key: { id: keyId, hash: `hash of ${keyId}` } };
}

export function update(
  id: string,
  permissions: readonly string[],
  rest: Partial<Extract<DirectoryCommand, { kind: 'update_application' }>> = {},
): DirectoryCommand {
  const access = { permissions: [...permissions] };
  return { kind: 'update_application', id, name: 'renamed', access, type: undefined, expiresAt: undefined, ...rest };
}

/** Returns the tenant's directory after these commands. A command without an actor is run by the operator. */
export function directoryAfter(
  ...commands: readonly (DirectoryCommand | [Actor, DirectoryCommand])[]
): TenantDirectory {
  return commands.reduce<TenantDirectory>((directory, given) => {
    const [actor, command] = Array.isArray(given) ? given : [operator, given];
    const decided = decideDirectory(command, { actor, at }, directory);
    if (!decided.ok) throw new Error(`${command.kind}: ${decided.code}`);
    return decided.facts.reduce(evolveDirectory, directory);
  }, noDirectory);
}

export const tenant: DirectoryCommand = { kind: 'create_tenant', name: 'shop' };

/** Returns the error code if the command is rejected, and the types of the resulting events if it is accepted. */
export function outcome(actor: Actor, command: DirectoryCommand, directory: TenantDirectory, when = at) {
  const decided = decideDirectory(command, { actor, at: when }, directory);
  return decided.ok ? decided.facts.map(({ type }) => type) : decided.code;
}
