import { managementPermissions } from '../../domain/access/permission.js';
import type { Secret } from '../../domain/secret.js';
import type { EventOrigin } from '../event-origin.js';
import type { Vault } from '../vault.js';
import { type ApplicationSpec, newApplication } from './new-application.js';
import { newRecord } from './new-record.js';

export type CreatedTenant = {
  readonly tenantId: string;
  readonly managementKey: Secret<string>;
  /** Keys of the further applications, in the order given. */
  readonly keys: readonly Secret<string>[];
};

const defaultSettings = { deduplicate_tokens: 'false', keep_superseded_data: 'false' } as const;
const management: ApplicationSpec = {
  name: 'management',
  type: 'management',
  access: { kind: 'permissions', permissions: managementPermissions },
};

/**
 * Makes a tenant with its keys, a management application that holds every management permission, and the further
 * applications; all of it or nothing that can be used.
 */
export async function createTenant(
  vault: Vault,
  name: string,
  further: readonly ApplicationSpec[],
  origin: EventOrigin,
): Promise<CreatedTenant> {
  const tenantId = vault.random.uuid();
  await vault.keys.createTenant(tenantId);
  const tenantKeys = await vault.keys.tenantKeys(tenantId);
  if (tenantKeys === null) throw new Error('the keys of a new tenant are not there');
  const document = { name, settings: defaultSettings };
  const tenant = newRecord(vault, tenantKeys, tenantId, { kind: 'tenant', id: tenantId, document }, origin);
  const [first, ...others] = [management, ...further].map((spec) =>
    newApplication(vault, tenantKeys, tenantId, spec, origin),
  );
  if (first === undefined) throw new Error('a tenant has a management application');
  const writes = [tenant, first.write, ...others.map(({ write }) => write)];
  const { outcome } = await vault.work.commit({ writes, claim: null });
  if (outcome !== 'committed') throw new Error('a stream with a random name was taken');
  return { tenantId, managementKey: first.key, keys: others.map(({ key }) => key) };
}
