/**
 * Converts a commit position to the number that the port uses. A commit position is a byte offset in EventStoreDB's
 * log. Positions increase but are not contiguous. Throws if the position is beyond 2^53 bytes (9 PB), because a number
 * cannot represent it exactly.
 */
export function positionOf(commit: bigint | undefined): number {
  if (commit === undefined) throw new Error('EventStoreDB returned no position: version 22.6 or later is required');
  if (commit > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('the log of EventStoreDB is too long');
  return Number(commit);
}
