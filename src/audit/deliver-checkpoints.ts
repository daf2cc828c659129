import { checkpointLine, checkpointStream, readCheckpointEvent } from '../events/audit/checkpoint.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { Anchor } from '../ports/anchor.js';
import type { EventLog } from '../ports/event-log.js';

const pageSize = 100;

type Deps = {
  readonly log: EventLog;
  /** Stores the number of the last checkpoint accepted by the anchor. */
  readonly keys: Pick<KeyRing, 'checkpoint' | 'saveCheckpoint'>;
  readonly anchor: Anchor;
};

/**
 * Delivers, in order, every checkpoint up to `upTo` that the anchor has not accepted yet. Throws on the first failure.
 */
export async function deliverCheckpoints({ log, keys, anchor }: Deps, upTo: number): Promise<void> {
  let delivered = await keys.checkpoint('anchor');
  while (delivered < upTo) {
    const end = Math.min(delivered + pageSize, upTo);
    const page = await log.readNewest(checkpointStream, end, end - delivered);
    for (const event of [...page].reverse()) {
      await anchor.deliver(checkpointLine(readCheckpointEvent(event)));
      delivered = event.revision + 1;
      await keys.saveCheckpoint('anchor', delivered);
    }
    if (page.length === 0) return;
  }
}
