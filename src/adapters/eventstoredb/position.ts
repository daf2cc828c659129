/**
 * Converts an EventStoreDB commit position, a byte offset in its log, to the number that the port uses. Positions
 * increase but are not contiguous. Rejects positions past 2^53 bytes (9 PB), which a number cannot represent exactly.
 */
export function positionOf(commit: bigint | undefined): number {
  if (commit === undefined) throw new Error('EventStoreDB returned no position: version 22.6 or later is required');
  if (commit > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('the log of EventStoreDB is too long');
  return Number(commit);
}
