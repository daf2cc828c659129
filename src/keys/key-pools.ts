import { type EndedKey, noEvent } from '../ports/key-store.js';
import type { DataKey } from './key-ring.js';

/** Keeps a pool for each tenant, with keys that were created in advance. */
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
    /**
     * Drops the pool of a tenant whose keys were destroyed. The orphan-key job later destroys the unused keys of the
     * pool in the store.
     */
    drop(tenantId: string): void {
      const pool = pools.get(tenantId);
      pools.delete(tenantId);
      if (pool !== undefined) void zeroRest(pool);
    },
    /** Zeroes the unused keys and returns their ids. No event names these keys. */
    async close(): Promise<readonly EndedKey[]> {
      return (await Promise.all([...pools.values()].map(zeroRest))).flat();
    },
  };
}

const blockSizeMin = 8;
const blockSizeMax = 256;
/**
 * A key that has been in the pool for longer than this is not handed out. After a key is handed out, an event may name
 * it within `keyNamedWithinMs`. The sum of these two times must be less than one hour, because after one hour the
 * orphan-key job destroys a key that no event names.
 */
const waitMsMax = 600_000;

type Block = { readonly madeAt: number; readonly keys: DataKey[] };

/**
 * Creates one tenant's keys in advance, in blocks. A block is durable before any of its keys is handed out, so a write
 * does not have to wait for the key store to commit. The block size doubles as long as all keys are used, and starts
 * small again if keys are left over. The next `take` zeroes keys that have been in the pool for too long, and the
 * orphan-key job destroys them in the store.
 */
function createKeyPool(makeBlock: (size: number) => Promise<DataKey[]>, now: () => number) {
  let block: Block = { madeAt: 0, keys: [] };
  let next: Promise<Block> | null = null;
  let size = blockSizeMin;

  async function make(): Promise<Block> {
    const madeAt = now();
    try {
      return { madeAt, keys: await makeBlock(size) };
    } finally {
      size = Math.min(size * 2, blockSizeMax);
    }
  }

  /** Starts creating the next block unless that is already in progress. After a failure, the next caller retries. */
  function ahead(): Promise<Block> {
    next ??= make();
    next.catch(() => {
      next = null;
    });
    return next;
  }

  return {
    async take(): Promise<DataKey> {
      for (;;) {
        const isFresh = now() - block.madeAt <= waitMsMax;
        const key = isFresh ? block.keys.pop() : undefined;
        if (key !== undefined) {
          if (block.keys.length < size / 4) ahead().catch(() => undefined);
          return key;
        }
        // Leftover keys mean that demand is low. A smaller block leaves fewer unused keys, whose rows would stay in the
        // key store forever.
        if (!isFresh && block.keys.length > 0) size = blockSizeMin;
        for (const late of isFresh ? [] : block.keys.splice(0)) late.key.fill(0);
        const made = await ahead();
        if (made === block) continue;
        block = made;
        next = null;
      }
    },
    /** Returns the unused keys, including those from a block that is still being created. */
    async rest(): Promise<readonly DataKey[]> {
      const following = await next?.catch(() => null);
      return [...block.keys.splice(0), ...(following?.keys.splice(0) ?? [])];
    },
  };
}
