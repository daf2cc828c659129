import type { Rebuild } from '../../ports/generations.js';
import type { ProjectionStatus, RebuildStatus } from '../../ports/projections.js';

/** Returns the status of the running rebuild. If no rebuild is running, returns the outcome of the last rebuild. */
export function rebuildStatus(rebuild: Rebuild | null): {
  readonly running: RebuildStatus | null;
  readonly last: ProjectionStatus['lastRebuild'];
} {
  if (rebuild === null) return { running: null, last: null };
  const { phase, outcome, different, examples, position, head, acceptNew, rate } = rebuild;
  if (phase === 'ended') return { running: null, last: outcome === null ? null : { outcome, different, examples } };
  const { events = 0, eventsPerSecond = 0, positionsPerSecond = 0 } = rate ?? {};
  // Once all events have been read, the rate no longer helps to predict how long the remaining phases take.
  const isReading = phase === 'building' && position < head;
  const left = isReading && positionsPerSecond > 0 ? (head - position) / positionsPerSecond : null;
  return { running: { phase, position, head, events, eventsPerSecond, left, acceptNew }, last: null };
}
