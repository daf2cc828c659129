import { type EndedKey, noEvent } from '../ports/key-store.js';
import type { DataKey } from './key-ring.js';

/** How often keys that have been in a pool for too long are zeroed, in ms. */
const zeroingMs = 15_000;

/** Creates data keys in advance, and keeps them in one pool per tenant. */
export function createKeyPools(makeBlock: (tenantId: string, size: number) => Promise<DataKey[]>, now: () => number) {
  const pools = new Map<string, ReturnType<typeof createKeyPool>>();
  // Without this timer, the unused keys of a tenant that creates no more tokens would stay in memory.
  const zeroing = setInterval(() => {
    for (const pool of pools.values()) pool.zeroLate();
  }, zeroingMs);
  zeroing.unref();

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
     * Drops the pool of a tenant whose keys were destroyed. The unused keys of the pool remain in the store until the
     * orphan-key job destroys them.
     */
    drop(tenantId: string): void {
      const pool = pools.get(tenantId);
      pools.delete(tenantId);
      if (pool !== undefined) void zeroRest(pool);
    },
    /** Zeroes all unused keys and returns their ids. No event names these keys. */
    async close(): Promise<readonly EndedKey[]> {
      clearInterval(zeroing);
      return (await Promise.all([...pools.values()].map(zeroRest))).flat();
    },
  };
}

const blockSizeMin = 8;
const blockSizeMax = 256;
/**
 * A key that has been in the pool for this long (in ms) is no longer used. After a key leaves the pool, an event may
 * name it within `keyNamedWithinMs`. The sum of both times must be less than one hour, because the orphan-key job
 * destroys a key if no event has named it within one hour.
 */
const waitMsMax = 600_000;

type Block = { readonly madeAt: number; readonly keys: DataKey[] };

/**
 * Creates one tenant's keys in advance, in blocks. A block is durable before any of its keys is used, so a write does
 * not have to wait for a commit of the key store. The block size doubles as long as all keys of a block are used. If
 * keys are left over, the block size returns to the minimum. Keys that have been in the pool for too long are zeroed,
 * and are later destroyed in the store by the orphan-key job.
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

  /** Starts creating the next block, unless this is already in progress. After a failure, the next call retries. */
  function ahead(): Promise<Block> {
    next ??= make();
    next.catch(() => {
      next = null;
    });
    return next;
  }

  function zeroIfLate({ madeAt, keys }: Block): void {
    // If the clock was set back, the age of the keys is unknown, because the clock may step forward again. The keys
    // would then be old enough for the orphan-key job.
    const isFresh = Math.abs(now() - madeAt) <= waitMsMax;
    if (isFresh || keys.length === 0) return;
    for (const { key } of keys.splice(0)) key.fill(0);
    // Keys are left over, so demand is low. A smaller block leaves fewer unused keys, whose rows would stay in the key
    // store forever.
    size = blockSizeMin;
  }

  return {
    async take(): Promise<DataKey> {
      for (;;) {
        zeroIfLate(block);
        const key = block.keys.pop();
        if (key !== undefined) {
          if (block.keys.length < size / 4) ahead().catch(() => undefined);
          return key;
        }
        const made = await ahead();
        if (made === block) continue;
        block = made;
        next = null;
      }
    },
    /** Zeroes the keys that have been in the pool for too long. */
    zeroLate(): void {
      zeroIfLate(block);
      next?.then(zeroIfLate, () => undefined);
    },
    /** Returns the unused keys, including the keys of a block that is still being created. */
    async rest(): Promise<readonly DataKey[]> {
      const following = await next?.catch(() => null);
      return [...block.keys.splice(0), ...(following?.keys.splice(0) ?? [])];
    },
  };
}
