import type { JsonObject } from '../../domain/json.js';
import type { ProjectionStatus, RebuildStatus } from '../../ports/projections.js';

/** Returns the status of all projections as JSON. The field names follow the style of the CLI. */
export function statusJson(statuses: readonly ProjectionStatus[]): JsonObject {
  return {
    projections: statuses.map(({ rebuild, lastRebuild, ...status }) => ({
      ...status,
      rebuild: rebuild === null ? null : rebuildJson(rebuild),
      last_rebuild: lastRebuild,
    })),
  };
}

function rebuildJson({ eventsPerSecond, left, acceptNew, ...rebuild }: RebuildStatus): JsonObject {
  const rate = Math.round(eventsPerSecond * 10) / 10;
  return { ...rebuild, events_per_second: rate, seconds_left: left, accept_new: acceptNew };
}
