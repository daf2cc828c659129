import type { ProjectionStatus, RebuildStatus } from '../../ports/projections.js';
import type { RebuildProgress } from './token-rebuild.js';

/** The rebuild that is under way, and how the last one ended. */
export function rebuildStatus(progress: RebuildProgress | null): {
  readonly running: RebuildStatus | null;
  readonly last: ProjectionStatus['lastRebuild'];
} {
  if (progress === null) return { running: null, last: null };
  const { rebuild, rate } = progress;
  const { phase, outcome, different, examples, position, head, acceptNew } = rebuild;
  if (phase === 'ended') return { running: null, last: outcome === null ? null : { outcome, different, examples } };
  const { events = 0, eventsPerSecond = 0, positionsPerSecond = 0 } = rate ?? {};
  const left = positionsPerSecond > 0 ? Math.max(0, head - position) / positionsPerSecond : null;
  return { running: { phase, position, head, events, eventsPerSecond, left, acceptNew }, last: null };
}
