import { type DataKey, type EndedKey, noEvent } from '../../ports/key-ring.js';
import { createKeyPool } from './key-pool.js';

/** The keys made ahead for each tenant. */
export function createKeyPools(makeBlock: (tenantId: string, size: number) => Promise<DataKey[]>, now: () => number) {
  const pools = new Map<string, ReturnType<typeof createKeyPool>>();

  async function zeroRest(pool: ReturnType<typeof createKeyPool>): Promise<readonly EndedKey[]> {
    const unused = await pool.rest();
    for (const { key } of unused) key.fill(0);
    return unused.map(({ id }) => ({ keyId: id, eventId: noEvent }));
  }

  return {
    take(tenantId: string): Promise<DataKey> {
      const pool = pools.get(tenantId) ?? createKeyPool((size) => makeBlock(tenantId, size), now);
      pools.set(tenantId, pool);
      return pool.take();
    },
    /** The tenant's keys are destroyed. Those that no event names are left to the search for orphans. */
    drop(tenantId: string): void {
      const pool = pools.get(tenantId);
      pools.delete(tenantId);
      if (pool !== undefined) void zeroRest(pool);
    },
    /** Zeroes what nobody took, and answers it as keys that no event ended. */
    async close(): Promise<readonly EndedKey[]> {
      return (await Promise.all([...pools.values()].map(zeroRest))).flat();
    },
  };
}
