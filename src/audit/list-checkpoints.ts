import { formatTimestamp } from '../domain/time.js';
import { type Checkpoint, checkpointHash, checkpointStream, readCheckpointEvent } from '../events/audit/checkpoint.js';
import type { EventLog } from '../ports/event-log.js';

const pageSize = 100;

/**
 * Returns a page of the hourly checkpoints, newest first, and the total number of hourly checkpoints. Leaves out all
 * other checkpoints, because their times would reveal the total write volume of all tenants. Throws UnreadableEvent if
 * a checkpoint cannot be read from its event.
 */
export async function listHourlyCheckpoints(
  log: Pick<EventLog, 'readNewest'>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly checkpoints: readonly Checkpoint[]; readonly total: number }> {
  const [newest] = await log.readNewest(checkpointStream, null, 1);
  const total = newest === undefined ? 0 : readCheckpointEvent(newest).hours;
  const wanted = Math.max(0, Math.min(limit, total - offset));
  const checkpoints: Checkpoint[] = [];
  let skipped = 0;
  for await (const hourly of hourlyCheckpoints(log)) {
    const after = Math.min(hourly.length, offset - skipped);
    skipped += after;
    checkpoints.push(...hourly.slice(after));
    if (checkpoints.length >= wanted) break;
  }
  return { checkpoints: checkpoints.slice(0, wanted), total };
}

/**
 * Returns pages of all hourly checkpoints, newest first. Throws UnreadableEvent if a checkpoint cannot be read from its
 * event.
 */
export async function* hourlyCheckpoints(
  log: Pick<EventLog, 'readNewest'>,
): AsyncGenerator<readonly Checkpoint[], void, undefined> {
  for (let before: number | null = null; before !== 0; ) {
    const page: readonly Checkpoint[] = (await log.readNewest(checkpointStream, before, pageSize)).map(
      readCheckpointEvent,
    );
    yield page.filter(({ number, hourly }) => number === hourly);
    const oldest = page.at(-1);
    // The next page begins at the next older hourly checkpoint. None of the checkpoints in between is hourly, so they
    // are skipped.
    before = oldest === undefined ? 0 : oldest.hourly === oldest.number ? oldest.number - 1 : oldest.hourly;
  }
}

/**
 * Returns the part of a checkpoint that a tenant may see. Threat: a tenant infers other tenants' activity from a
 * checkpoint's number, position and count.
 */
export function signedPart(checkpoint: Checkpoint) {
  const { time, signed_by, signature } = checkpoint;
  return { time: formatTimestamp(time), hash: checkpointHash(checkpoint), signed_by, signature };
}
