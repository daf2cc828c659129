import { setImmediate as nextTurn } from 'node:timers/promises';
import { type KeyStore, type LivingDataKey, type StoredTenantKey, vaultKeyTenant } from '../ports/key-store.js';
import { openDataKey } from './data-key.js';
import { openGenerationKey } from './generation-key.js';
import type { CheckedDataKeys, DamagedKey, KeyCheck } from './key-ring.js';
import type { RootKeys } from './root-keys.js';
import { identityKeyOf, openTenantKey } from './tenant-key.js';

/** The number of data keys per page. Opening this many takes a few milliseconds. */
const pageSize = 500;

/**
 * Returns the check of a store's keys. Opens the keys in the store and ignores cached keys, because a cached
 * key still works after its stored copy was damaged. Lets requests run between two pages or tenants.
 */
export function createKeyCheck(store: KeyStore, roots: RootKeys): Omit<KeyCheck, 'stateOf'> {
  const { wrappingKeys, livingDataKeys } = store.rotation;

  const areSound = (damaged: readonly DamagedKey[]): boolean => damaged.length === 0;

  async function lookAtGenerationKeys(): Promise<readonly DamagedKey[]> {
    const damaged: DamagedKey[] = [];
    for (const generation of await store.generations()) {
      const wrapped = await store.generationKey(generation);
      if (wrapped === null) continue;
      const key = roots.open((rootKey) => openGenerationKey(rootKey, wrapped, generation));
      if (key === null)
        damaged.push({ kind: 'search', generation, name: `the search key of generation ${generation}` });
      key?.fill(0);
    }
    return damaged;
  }

  async function lookAtTenants(living: ReadonlySet<string>): Promise<readonly DamagedKey[]> {
    const damaged: DamagedKey[] = [];
    for (const tenantId of new Set([
      vaultKeyTenant,
      ...(await wrappingKeys()).map(({ tenant }) => tenant),
      ...living,
    ])) {
      const whose = tenantId === vaultKeyTenant ? 'the vault' : `tenant ${tenantId}`;
      const rows = await store.readTenantKeys(tenantId);
      if (living.has(tenantId) && identityKeyOf(rows) === undefined) {
        damaged.push({ kind: 'tenant', tenantId, name: `the identity key of ${whose}, whose row is missing` });
      }
      for (const row of rows) {
        const key = opened(row);
        if (key === null) damaged.push({ kind: 'tenant', tenantId, name: `the ${row.purpose} key of ${whose}` });
        if (key !== 'destroyed') key?.fill(0);
      }
      await nextTurn();
    }
    return damaged;
  }

  function opened(row: StoredTenantKey): Buffer | 'destroyed' | null {
    const { wrapped } = row;
    return wrapped === null ? 'destroyed' : roots.open((rootKey) => openTenantKey(rootKey, wrapped, row));
  }

  /** `locked` is the number of keys whose wrapping key is damaged. */
  async function lookAtPage(
    keys: readonly LivingDataKey[],
  ): Promise<Omit<CheckedDataKeys, 'last'> & { readonly locked: number }> {
    const damaged: string[] = [];
    const unwrappable: string[] = [];
    let locked = 0;
    const byWrapper = new Map<string, LivingDataKey[]>();
    for (const key of keys) {
      const wrappedUnder = byWrapper.get(key.tenantKeyId) ?? [];
      wrappedUnder.push(key);
      byWrapper.set(key.tenantKeyId, wrappedUnder);
    }
    const rows = new Map((await store.findTenantKeys([...byWrapper.keys()])).map((row) => [row.id, row]));
    for (const [tenantKeyId, wrappedUnder] of byWrapper) {
      const row = rows.get(tenantKeyId);
      const wrappingKey = row === undefined ? null : opened(row);
      // Threat: an attacker removes the row of a wrapping key, so that its data keys are lost. The vault keeps the row
      // of a destroyed wrapping key, so these data keys count as damaged.
      if (row === undefined) damaged.push(...wrappedUnder.map(({ id }) => id));
      else if (wrappingKey === 'destroyed') unwrappable.push(...wrappedUnder.map(({ id }) => id));
      else if (wrappingKey === null) locked += wrappedUnder.length;
      else {
        for (const { id: keyId, wrapped } of wrappedUnder) {
          const key = openDataKey(wrappingKey, wrapped, { tenantId: row.tenant, tenantKeyId, keyId });
          if (key === null) damaged.push(keyId);
          key?.fill(0);
        }
        wrappingKey.fill(0);
      }
    }
    return { damaged, unwrappable, locked };
  }

  const searchKeys = () => roots.retry(lookAtGenerationKeys, areSound);

  return {
    searchKeys,
    underRoot: async (tenants) => [
      ...(await searchKeys()),
      ...(await roots.retry(() => lookAtTenants(new Set(tenants)), areSound)),
    ],
    async isTenantDestroyed(tenantId) {
      return identityKeyOf(await store.readTenantKeys(tenantId))?.wrapped === null;
    },
    async dataKeys(afterSequence) {
      // Reads the page again too, because a rotation may have rewrapped its keys.
      const look = async () => {
        const page = await livingDataKeys(afterSequence, pageSize);
        return page === null ? null : { ...(await lookAtPage(page.keys)), last: page.last };
      };
      const found = await roots.retry(look, (page) => page === null || page.damaged.length + page.locked === 0);
      await nextTurn();
      return found === null ? null : { damaged: found.damaged, unwrappable: found.unwrappable, last: found.last };
    },
  };
}
