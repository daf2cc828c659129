import { setImmediate as nextTurn } from 'node:timers/promises';
import { atMost } from '../domain/at-most.js';
import { TenantKeysBroken } from '../keys/tenant-keys-broken.js';
import type { Maybe } from '../ports/maybe.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import { ForgedRow } from './forged-row.js';
import { KeyLost } from './key-lost.js';
import { TenantGone } from './tenant-gone.js';
import type { Vault } from './vault.js';

/** An error that reveals that one row, or a key of one tenant, was changed or removed outside the vault. */
type Damage = ForgedRow | KeyLost | TenantKeysBroken;

/** A tenant that was left out because its row or its keys are damaged. */
export type DamagedTenant = { readonly id: string; readonly error: Damage };

/**
 * Returns true if the error concerns one row, or the keys of one tenant. Returns false for a problem with a whole store,
 * such as a damaged file, a forged log, or a user that MongoDB rejects. In that case, the work must fail, because it would
 * otherwise leave something out for every tenant.
 */
export function isDamage(error: unknown): error is Damage {
  return error instanceof ForgedRow || error instanceof KeyLost || error instanceof TenantKeysBroken;
}

/**
 * After this number of tenants, requests run, and the writer of the access log can finish. If all keys are cached,
 * nothing else waits for the event loop.
 */
const tenantsInATurn = 500;

/** Returns the result of a read. If a row or a key is damaged, reports the damage and returns null. */
export async function orNull<T>(
  { reportDamage }: Pick<Vault, 'reportDamage'>,
  read: () => Maybe<T>,
): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    reportDamage(error);
    return null;
  }
}

/** Returns the ids of the live tenants, without those whose row is damaged. */
export async function livingTenants(vault: Pick<Vault, 'directory' | 'reportDamage'>): Promise<readonly string[]> {
  const living: string[] = [];
  await forTenants(vault, null, async ({ id }) => void living.push(id));
  return living;
}

/**
 * Calls `use` for each live tenant, or for the tenant with this id if `tenantId` is set. Reports and returns the tenants
 * whose row or keys are damaged. Threat: an attacker changes the row or the keys of one tenant to stop work for all
 * tenants. Up to `lanes` calls of `use` run at the same time.
 */
export async function forTenants(
  { directory, reportDamage }: Pick<Vault, 'directory' | 'reportDamage'>,
  tenantId: string | null,
  use: (record: DirectoryRecord) => Promise<void>,
  lanes = 1,
): Promise<readonly DamagedTenant[]> {
  const damaged: DamagedTenant[] = [];

  async function attempt(id: string, read: () => Promise<DirectoryRecord | null>): Promise<void> {
    try {
      const record = await read();
      if (record !== null && record.removedAt === null) await use(record);
    } catch (error) {
      if (error instanceof TenantGone) return;
      if (!isDamage(error)) throw error;
      reportDamage(error);
      damaged.push({ id, error });
    }
  }

  if (tenantId !== null) {
    await attempt(tenantId, () => directory.get('tenant', tenantId));
    return damaged;
  }
  const tenants = await directory.check('tenant');
  for (let start = 0; start < tenants.length; start += tenantsInATurn) {
    if (start > 0) await nextTurn();
    await atMost(lanes, tenants.slice(start, start + tenantsInATurn), ({ record, problem }) =>
      attempt(record.id, async () => {
        // No field of such a row can be trusted, not even the id.
        if (problem === 'not_authentic') throw new ForgedRow({ of: 'tenant', name: record.id }, problem);
        // If the row is only out of date, `get` updates it from the log.
        return problem === null ? record : directory.get('tenant', record.id);
      }),
    );
  }
  return damaged;
}
