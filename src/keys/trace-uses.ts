/**
 * AES-GCM with random nonces is safe for 2^32 messages under one key (NIST SP 800-38D). The default is half of that,
 * because a counter that was restored from a backup can assign the same uses twice.
 */
const usesMaxDefault = 2 ** 31;
const blockSizeDefault = 2 ** 20;

export type TraceUseLimits = {
  /** The number of traces that a trace key seals before the tenant's next trace key replaces it. */
  readonly usesMax?: number;
  /** The number of uses that are reserved in one step. */
  readonly blockSize?: number;
};

type Block = { next: number; end: number; following: Promise<void> | null };

/**
 * Counts the traces that are sealed for each tenant. The count determines which trace key seals the next trace.
 * `reserve` durably increases the count and returns the previous count. Uses are reserved in advance, in blocks, so the
 * count may be too high after a crash. It is never too low.
 */
export function createTraceUses(
  reserve: (tenantId: string, count: number) => Promise<number>,
  { usesMax = usesMaxDefault, blockSize = blockSizeDefault }: TraceUseLimits,
) {
  const blocks = new Map<string, Block>();

  async function extend(tenantId: string): Promise<void> {
    const start = await reserve(tenantId, blockSize);
    const block = blocks.get(tenantId);
    // Drops the rest of the previous block. If more uses were counted than the previous block contained, the excess
    // uses are taken from the new block.
    const overdrawn = block === undefined ? 0 : Math.max(0, block.next - block.end);
    blocks.set(tenantId, { next: start + overdrawn, end: start + blockSize, following: null });
  }

  return {
    /**
     * Ensures that a use is reserved. Returns null if a reserved use is left. If none is left, returns a promise that
     * resolves when more uses are reserved, or rejects with the error from `reserve`. If at most half of the block is
     * left, starts to reserve the next block.
     */
    ready(tenantId: string): Promise<void> | null {
      const block = blocks.get(tenantId);
      if (block !== undefined && block.end - block.next > blockSize / 2) return null;
      const entry = block ?? { next: 0, end: 0, following: null };
      if (block === undefined) blocks.set(tenantId, entry);
      entry.following ??= extend(tenantId).catch((error: unknown) => {
        entry.following = null;
        throw error;
      });
      if (entry.next >= entry.end) return entry.following;
      entry.following.catch(() => undefined);
      return null;
    },
    /** Counts one use, and returns the number of the trace key for this use. */
    next(tenantId: string): number {
      const block = blocks.get(tenantId);
      if (block === undefined) throw new Error('no trace key uses are reserved for this tenant');
      const use = block.next;
      block.next += 1;
      return Math.floor(use / usesMax);
    },
  };
}

export type TraceUses = ReturnType<typeof createTraceUses>;
