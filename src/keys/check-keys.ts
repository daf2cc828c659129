import { setImmediate as endOfTurn } from 'node:timers/promises';
import { type KeyStore, type LivingDataKey, type StoredTenantKey, vaultKeyTenant } from '../ports/key-store.js';
import { openDataKey } from './data-key.js';
import { openGenerationKey } from './generation-key.js';
import type { KeyCheck, UnopenedDataKeys } from './key-ring.js';
import type { RootKeys } from './root-keys.js';
import { openTenantKey } from './tenant-key.js';

/** The number of data keys per page. Opening this many takes a few milliseconds. */
const pageSize = 500;

/**
 * Returns the check of a store's keys. Opens the keys in the store, and uses none that this process has in memory: a
 * key in memory still works after its stored copy was damaged. Lets requests run between two pages or tenants.
 */
export function createKeyCheck(store: KeyStore, roots: RootKeys): Omit<KeyCheck, 'stateOf'> {
  const { wrappingKeys, livingDataKeys } = store.rotation;

  async function lookUnderRoot(): Promise<readonly string[]> {
    const damaged: string[] = [];
    for (const generation of await store.generations()) {
      const wrapped = await store.generationKey(generation);
      if (wrapped === null) continue;
      const key = roots.open((rootKey) => openGenerationKey(rootKey, wrapped, generation));
      if (key === null) damaged.push(`the search key of generation ${generation}`);
      key?.fill(0);
    }
    for (const tenant of new Set([vaultKeyTenant, ...(await wrappingKeys()).map(({ tenant: id }) => id)])) {
      for (const row of await store.readTenantKeys(tenant)) {
        const key = opened(row);
        const whose = tenant === vaultKeyTenant ? 'the vault' : `tenant ${tenant}`;
        if (key === null) damaged.push(`the ${row.purpose} key of ${whose}`);
        if (key !== 'destroyed') key?.fill(0);
      }
      await endOfTurn();
    }
    return damaged;
  }

  function opened(row: StoredTenantKey): Buffer | 'destroyed' | null {
    const { wrapped } = row;
    return wrapped === null ? 'destroyed' : roots.open((rootKey) => openTenantKey(rootKey, wrapped, row));
  }

  async function lookAtPage(
    keys: readonly LivingDataKey[],
    tenantOf: ReadonlyMap<string, string>,
  ): Promise<UnopenedDataKeys> {
    const damaged: string[] = [];
    const unwrappable: string[] = [];
    const byWrapper = new Map<string, LivingDataKey[]>();
    for (const key of keys) byWrapper.set(key.tenantKeyId, [...(byWrapper.get(key.tenantKeyId) ?? []), key]);
    for (const [tenantKeyId, wrappedUnder] of byWrapper) {
      const tenantId = tenantOf.get(tenantKeyId);
      const row =
        tenantId === undefined
          ? undefined
          : (await store.readTenantKeys(tenantId)).find(({ id }) => id === tenantKeyId);
      const wrappingKey = row === undefined ? 'destroyed' : opened(row);
      for (const { id: keyId, wrapped } of wrappedUnder) {
        if (tenantId === undefined || wrappingKey === 'destroyed') {
          unwrappable.push(keyId);
          continue;
        }
        const key = wrappingKey === null ? null : openDataKey(wrappingKey, wrapped, { tenantId, tenantKeyId, keyId });
        if (key === null) damaged.push(keyId);
        key?.fill(0);
      }
      if (wrappingKey !== 'destroyed') wrappingKey?.fill(0);
    }
    return { damaged, unwrappable };
  }

  return {
    async underRoot() {
      const damaged = await lookUnderRoot();
      if (damaged.length === 0) return damaged;
      // Another process may have replaced the root key, so the keys are opened again with the current root key.
      await roots.refresh();
      return lookUnderRoot();
    },
    async *dataKeys() {
      const tenantOf = new Map((await wrappingKeys()).map(({ id, tenant }) => [id, tenant]));
      for (let after = 0; ; ) {
        const page = await livingDataKeys(after, pageSize);
        if (page === null) return;
        let found = await lookAtPage(page.keys, tenantOf);
        if (found.damaged.length > 0) {
          // As in `underRoot`. A rotation may also have rewrapped the keys after the page was read.
          await roots.refresh();
          const again = await livingDataKeys(after, page.keys.length);
          found = await lookAtPage(again?.keys ?? [], tenantOf);
        }
        yield found;
        await endOfTurn();
        after = page.last;
      }
    },
  };
}
