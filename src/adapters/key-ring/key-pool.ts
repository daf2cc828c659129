import type { DataKey } from '../../ports/key-ring.js';

const blockSizeMin = 8;
const blockSizeMax = 256;
/** A key that waited longer is not handed out: the search for orphans may take it from then on. */
const waitMsMax = 600_000;

type Block = { readonly madeAt: number; readonly keys: DataKey[] };

/**
 * Keys of one tenant that are made ahead in blocks, durable before any is handed out, so that a write need not wait
 * for a commit of the key store. Blocks grow while they are used up, and begin small again after one was not. What
 * waited too long is zeroed at the next use and left to the search for orphans.
 */
export function createKeyPool(makeBlock: (size: number) => Promise<DataKey[]>, now: () => number) {
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

  /** Starts the next block, once; a failed one is tried again by the next who asks. */
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
        // Keys that waited in vain say that demand is low: a row of the key store is never removed.
        if (!isFresh && block.keys.length > 0) size = blockSizeMin;
        for (const late of isFresh ? [] : block.keys.splice(0)) late.key.fill(0);
        const made = await ahead();
        if (made === block) continue;
        block = made;
        next = null;
      }
    },
    /** The keys that nobody took, those of the block under way included. */
    async rest(): Promise<readonly DataKey[]> {
      const following = await next?.catch(() => null);
      return [...block.keys.splice(0), ...(following?.keys.splice(0) ?? [])];
    },
  };
}
