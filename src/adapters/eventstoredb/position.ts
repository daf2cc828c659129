/**
 * A commit position of EventStoreDB, an offset in bytes of its log, as the number of the port. Positions grow and are
 * not contiguous; past 2^53 bytes (9 PB) they would no longer be exact, and are refused.
 */
export function positionOf(commit: bigint | undefined): number {
  if (commit === undefined) throw new Error('EventStoreDB named no position: a server of 22.6 or later is needed');
  if (commit > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('the log of EventStoreDB is too long');
  return Number(commit);
}
