import type { KeyStore, LivingDataKey, RewrappedDataKey } from '../ports/key-store.js';
import { rewrapDataKey } from './data-key.js';
import { rewrapGenerationKey } from './generation-key.js';
import type { KeyRotation } from './key-ring.js';
import type { createOpenTenants, OpenTenantKeys } from './open-tenants.js';
import { passesRootCheck, type RootKeys } from './root-keys.js';
import { rewrapTenantKey } from './tenant-key.js';

const stepSize = 500;
const tenantsAtOnce = 100;

/** Thrown when a rotation cannot continue. The message states the reason and how to proceed. */
export class RotationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RotationRefused';
  }
}

/** The message of a rotation that must not continue, because its next root key is out of date. */
export const rootReplaced =
  'another process has put a different root key into use since this rotation began, so this rotation has stopped. ' +
  'If `strongroom doctor` reports that the root key does not open the key store, replace the next root key of this ' +
  'machine with the root key that is in use, and run the command again.';

/** A tenant and the id of one of its wrapping keys. `tenant.wrapping` contains the key. */
export type Wrapper = { readonly tenant: OpenTenantKeys; readonly id: string };

type Deps = {
  readonly store: KeyStore;
  readonly roots: RootKeys;
  readonly tenants: Pick<ReturnType<typeof createOpenTenants>, 'addWrapping' | 'fresh'>;
  /**
   * Returns the tenant's newest wrapping key, and adds `wraps` to its use count. If that key is retiring or used up,
   * creates a new wrapping key and returns the new one.
   */
  readonly wrapperFor: (tenantId: string, wraps: number) => Promise<Wrapper>;
};

/**
 * Returns the rotation of a store's keys. The rotation marks the old wrapping keys as retiring. If a data key is
 * wrapped under a retiring key after that, either the store rejects the data key, or `replaceRoot` returns false. This
 * ensures that no data key is lost when the old wrapping keys are destroyed.
 */
export function createKeyRotation({ store, roots, tenants, wrapperFor }: Deps): KeyRotation {
  const rows = store.rotation;

  /** Returns the ids of the retiring wrapping keys, with their tenants. */
  async function retiring(): Promise<ReadonlyMap<string, string>> {
    const keys = await rows.wrappingKeys();
    return new Map(keys.filter(({ isRetiring }) => isRetiring).map(({ id, tenant }) => [id, tenant]));
  }

  async function createNewerKeys(): Promise<void> {
    const newest = new Map((await rows.wrappingKeys()).map((key) => [key.tenant, key]));
    const lacking = [...newest.values()].filter(({ isRetiring }) => isRetiring);
    for (let start = 0; start < lacking.length; start += tenantsAtOnce) {
      await tenants.addWrapping(
        lacking.slice(start, start + tenantsAtOnce).map(({ tenant, number }) => ({ tenant, number: number + 1 })),
      );
    }
  }

  /**
   * Returns these data keys, rewrapped under the tenant's newest wrapping key. Returns no keys if the tenant's keys
   * were destroyed during the rotation.
   */
  async function rewrapped(tenantId: string, keys: readonly LivingDataKey[]): Promise<readonly RewrappedDataKey[]> {
    const to = await wrapperFor(tenantId, keys.length).catch(async (error: unknown) => {
      if ((await tenants.fresh(tenantId)).state === 'destroyed') return null;
      throw error;
    });
    if (to === null || to.tenant.state !== 'living') return [];
    const { wrapping } = to.tenant;
    const over = wrapping.get(to.id);
    // The tenant was dropped from the cache after `wrapperFor` returned it. These data keys are not rewrapped, so
    // `replaceRoot` fails and the rotation begins again.
    if (!Buffer.isBuffer(over)) return [];
    return keys.map(({ id, tenantKeyId, wrapped }) => {
      const under = wrapping.get(tenantKeyId);
      const rewrapped = Buffer.isBuffer(under)
        ? rewrapDataKey({ id: tenantKeyId, key: under }, { id: to.id, key: over }, wrapped, { tenantId, keyId: id })
        : null;
      if (rewrapped === null) throw new RotationRefused(unopened(`the data key ${id}`));
      return { id, from: tenantKeyId, to: to.id, wrapped: rewrapped };
    });
  }

  function unopened(what: string): string {
    return (
      `${what} does not open, so it cannot be rewrapped; nothing was removed. Restore ` +
      `${store.title} from a backup.`
    );
  }

  async function isUnder(rootKey: Buffer): Promise<boolean> {
    const check = await store.rootCheck();
    return check !== null && passesRootCheck(rootKey, check);
  }

  return {
    isUnder,
    rootCheck: async () => store.rootCheck(),
    async begin(from) {
      if (from !== null) await rows.begin(from);
      await createNewerKeys();
      return rows.countLivingDataKeys();
    },
    async rewrap(afterSequence) {
      const page = await rows.livingDataKeys(afterSequence, stepSize);
      if (page === null) return null;
      const tenantOf = await retiring();
      const byTenant = new Map<string, LivingDataKey[]>();
      for (const key of page.keys) {
        const tenantId = tenantOf.get(key.tenantKeyId);
        if (tenantId !== undefined) byTenant.set(tenantId, [...(byTenant.get(tenantId) ?? []), key]);
      }
      const all: RewrappedDataKey[] = [];
      for (const [tenantId, keys] of byTenant) all.push(...(await rewrapped(tenantId, keys)));
      if (all.length > 0) await rows.rewrapDataKeys(all);
      return { sequence: page.last, looked: page.keys.length };
    },
    async replaceRoot(next, from) {
      // Threat: a rotation is suspended. Meanwhile, other processes complete it and rotate the keys again. If the
      // rotation then continued, it would bring back a root key that was replaced because it may be known to others, and
      // whose copies are destroyed.
      const current = await store.rootCheck();
      if (current === null || from === null || !current.equals(from)) {
        if (await isUnder(next)) return true;
        throw new RotationRefused(rootReplaced);
      }
      return roots.replace(next, from, (rootKey, check, nextCheck) =>
        rows.replaceRoot({
          check,
          nextCheck,
          rewrap: (tenantKeys, generationKeys) => {
            // Threat: a store repeats its transaction after the time limit, when the caller has already zeroed `next`.
            // Without this check, all keys would be stored under a key of zeros.
            if (!passesRootCheck(next, nextCheck)) throw new Error('the next root key was zeroed during the rotation');
            return {
              tenantKeys: tenantKeys.map((row) => {
                const wrapped = rewrapTenantKey(rootKey, next, row.wrapped, row);
                if (wrapped === null) throw new RotationRefused(unopened(`the ${row.purpose} key ${row.id}`));
                return { id: row.id, wrapped };
              }),
              generationKeys: generationKeys.map(({ generation, wrapped: under }) => {
                const wrapped = rewrapGenerationKey(rootKey, next, under, generation);
                if (wrapped === null) {
                  throw new RotationRefused(unopened(`the search key of generation ${generation}`));
                }
                return { generation, wrapped };
              }),
            };
          },
        }),
      );
    },
    voidBefore: () => rows.voidBefore(),
    settle: () => rows.settle(),
  };
}
