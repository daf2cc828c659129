import { managementPermissions } from '../../domain/access/permission.js';
import type { Secret } from '../../domain/secret.js';
import type { ApplicationSpec } from '../../domain/tenancy/application-spec.js';
import type { Vault } from '../../vault/vault.js';
import { changeDirectory } from './change-directory.js';
import { newKey } from './new-key.js';

export type CreatedTenant = {
  readonly tenantId: string;
  readonly managementKey: Secret<string>;
  /** Keys of the further applications, in the order given. */
  readonly keys: readonly Secret<string>[];
};

const management: ApplicationSpec = {
  name: 'management',
  type: 'management',
  access: { kind: 'permissions', permissions: managementPermissions },
  expiresAt: null,
};

/**
 * Makes a tenant with its keys, a management application that holds every management permission, and the further
 * applications, as the operator; all of it or nothing that can be used.
 */
export async function createTenant(
  vault: Vault,
  name: string,
  further: readonly ApplicationSpec[],
): Promise<CreatedTenant> {
  const tenantId = vault.random.uuid();
  await vault.keys.createTenant(tenantId);
  const made = [management, ...further].map((spec) => ({ spec, id: vault.random.uuid(), ...newKey(vault, spec.type) }));
  const create = made.map(({ id, spec, stored }) => ({ do: 'create_application', id, spec, key: stored }) as const);
  const context = { tenantId, actor: { kind: 'operator' }, traceId: null } as const;
  const created = await changeDirectory(vault, context, {
    commands: [{ do: 'create_tenant', name }, ...create],
    answer: () => made.map(({ shown }) => shown),
  });
  const [managementKey, ...keys] = created.ok ? created.value : [];
  if (managementKey === undefined) throw new Error('the operator may make a tenant');
  return { tenantId, managementKey, keys };
}
