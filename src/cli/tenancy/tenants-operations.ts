import { z } from 'zod';
import { recordOperatorRead } from '../../audit/access-log/record-for-all-tenants.js';
import { createTenant as create } from '../../commands/tenancy/create-tenant.js';
import { parseName } from '../../domain/tenancy/parse-directory.js';
import { forTenants } from '../../vault/for-tenants.js';
import { openTenant } from '../../vault/open-directory.js';
import type { Vault } from '../../vault/vault.js';
import { fieldErrorText } from '../operations/field-error-text.js';
import { OperationFailed, operation } from '../operations/operation.js';

/**
 * Creates the first tenant and its management application. Throws OperationFailed if a tenant already exists
 * (docs/contract.md, "Initialize").
 */
export const init = operation(z.object({ name: z.string() }), async ({ vault }, input) =>
  vault.streams.run(['init'], async () => {
    const name = parseName(input.name);
    if (!name.ok) throw new OperationFailed(fieldErrorText(name.errors));
    if (await hasHadTenant(vault)) {
      throw new OperationFailed(
        'the vault is already initialized; no tenant was created. To create another one, run `strongroom ' +
          'tenants create`.',
      );
    }
    const { tenantId, managementKey } = await create(vault, name.value, []);
    return { tenant_id: tenantId, management_key: managementKey.reveal() };
  }),
);

/** The first tenant is created right after the log's own first event. */
const firstEvents = 100;

/**
 * Returns true if a tenant exists or existed. Threat: the rows are lost, and are rebuilt from the log only later. The
 * directory is empty in the meantime.
 */
async function hasHadTenant({ directory, log }: Pick<Vault, 'directory' | 'log'>): Promise<boolean> {
  if ((await directory.list('tenant')).length > 0) return true;
  return (await log.readClear(0, firstEvents)).some(({ type }) => type === 'tenant.created');
}

/** Creates a tenant and its management application. */
export const createTenant = operation(z.object({ name: z.string() }), async ({ vault }, input) => {
  const name = parseName(input.name);
  if (!name.ok) throw new OperationFailed(fieldErrorText(name.errors));
  const { tenantId, managementKey } = await create(vault, name.value, []);
  return { tenant_id: tenantId, management_key: managementKey.reveal() };
});

/** Returns the ids and names of all live tenants, and the problem of each tenant whose row or keys are damaged. */
export const listTenants = operation(z.object({}), async ({ vault }) => {
  const tenants: { readonly tenant_id: string; readonly name: string }[] = [];
  const damaged = await forTenants(vault, null, async (record) => {
    const document = await openTenant(vault, record);
    if (document !== null) tenants.push({ tenant_id: record.id, name: document.name });
  });
  await recordOperatorRead(vault, 'tenant', null);
  return { tenants, damaged: damaged.map(({ id, error }) => ({ id, problem: error.message })) };
});
