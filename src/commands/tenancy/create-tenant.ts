import { managementPermissions } from '../../domain/access/permission.js';
import type { Secret } from '../../domain/secret.js';
import type { ApplicationSpec } from '../../domain/tenancy/application-spec.js';
import type { DirectoryCommand } from '../../domain/tenancy/directory-command.js';
import { newKey } from './api-keys.js';
import { type ChangeDirectoryDeps, changeDirectory } from './change-directory.js';

/** The tenant and the keys of its new applications. */
export type CreatedTenant = {
  readonly tenantId: string;
  readonly managementKey: Secret<string>;
  /** The API keys of the additional applications, in the same order as those applications. */
  readonly keys: readonly Secret<string>[];
};

const management: ApplicationSpec = {
  name: 'management',
  type: 'management',
  access: { kind: 'permissions', permissions: managementPermissions },
  expiresAt: null,
};

/**
 * Creates a tenant with its tenant keys, a management application with all management permissions, and any additional
 * applications. The events name the operator as the actor. If the creation fails, no usable tenant or application
 * remains.
 */
export async function createTenant(
  vault: ChangeDirectoryDeps,
  name: string,
  further: readonly ApplicationSpec[],
): Promise<CreatedTenant> {
  const tenantId = vault.random.uuid();
  await vault.keys.createTenant(tenantId);
  return createApplications(vault, tenantId, [{ kind: 'create_tenant', name }], further);
}

/**
 * Creates a management application with all management permissions, and any additional applications, in a live tenant.
 * The events name the operator as the actor. Creates either all of the applications or none.
 */
export function createManagement(
  vault: ChangeDirectoryDeps,
  tenantId: string,
  further: readonly ApplicationSpec[],
): Promise<CreatedTenant> {
  return createApplications(vault, tenantId, [], further);
}

async function createApplications(
  vault: ChangeDirectoryDeps,
  tenantId: string,
  before: readonly DirectoryCommand[],
  further: readonly ApplicationSpec[],
): Promise<CreatedTenant> {
  const made = [management, ...further].map((spec) => ({ spec, id: vault.random.uuid(), ...newKey(vault, spec.type) }));
  const create = made.map(({ id, spec, stored }) => ({ kind: 'create_application', id, spec, key: stored }) as const);
  const context = { tenantId, actor: { kind: 'operator' }, traceId: null } as const;
  const created = await changeDirectory(vault, context, {
    commands: [...before, ...create],
    answer: () => made.map(({ shown }) => shown),
  });
  const [managementKey, ...keys] = created.ok ? created.value : [];
  if (managementKey === undefined) throw new Error('the operator must be allowed to create applications');
  return { tenantId, managementKey, keys };
}
