import { type EndedKey, noEvent } from '../ports/key-store.js';
import type { DataKey } from './key-ring.js';

/** Keys created in advance for each tenant. */
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
     * Drops the pool of a tenant whose keys are destroyed. Keys that no event names are left to the search for orphans.
     */
    drop(tenantId: string): void {
      const pool = pools.get(tenantId);
      pools.delete(tenantId);
      if (pool !== undefined) void zeroRest(pool);
    },
    /** Zeroes the unused keys and returns them. No event names them. */
    async close(): Promise<readonly EndedKey[]> {
      return (await Promise.all([...pools.values()].map(zeroRest))).flat();
    },
  };
}

const blockSizeMin = 8;
const blockSizeMax = 256;
/**
 * A key that has waited longer is not handed out. An event may name a key for `keyNamedWithinMs` after that. Both
 * together must be shorter than the hour after which the search for orphans destroys a key that no event names.
 */
const waitMsMax = 600_000;

type Block = { readonly madeAt: number; readonly keys: DataKey[] };

/**
 * Keys of one tenant, created in advance in blocks, and durable before any is handed out, so that a write need not wait
 * for a commit of the key store. Blocks grow while they are used up, and start small again after an unused block. A key
 * that has waited too long is zeroed at the next use and left to the search for orphans.
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

  /** Starts the next block once. After a failure, the next caller tries again. */
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
        // Unused keys show that demand is low. Smaller blocks matter because a row of the key store is never removed.
        if (!isFresh && block.keys.length > 0) size = blockSizeMin;
        for (const late of isFresh ? [] : block.keys.splice(0)) late.key.fill(0);
        const made = await ahead();
        if (made === block) continue;
        block = made;
        next = null;
      }
    },
    /** Returns the unused keys, including those of the pending block. */
    async rest(): Promise<readonly DataKey[]> {
      const following = await next?.catch(() => null);
      return [...block.keys.splice(0), ...(following?.keys.splice(0) ?? [])];
    },
  };
}
