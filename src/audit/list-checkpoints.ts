import { type Checkpoint, checkpointStream, readCheckpointEvent } from '../events/audit/checkpoint.js';
import type { EventLog } from '../ports/event-log.js';

/** A page of all checkpoints, the newest first, and how many there are. Throws UnreadableEvent. */
export async function listCheckpoints(
  log: EventLog,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly checkpoints: readonly Checkpoint[]; readonly total: number }> {
  const [newest] = await log.readNewest(checkpointStream, null, 1);
  const total = newest === undefined ? 0 : newest.revision + 1;
  if (offset >= total) return { checkpoints: [], total };
  const events = await log.readNewest(checkpointStream, total - offset, limit);
  return { checkpoints: events.map(readCheckpointEvent), total };
}
