import type { JsonObject } from '../../domain/json.js';
import type { ProjectionName, ProjectionStatus } from '../../ports/projections.js';
import { waitText } from '../../ports/store-unavailable.js';
import { gapText, lastRebuildText } from '../../queries/findings/projection-text.js';
import { table } from '../table.js';

/** Returns the status of all projections as a table. */
export function statusTable(statuses: readonly ProjectionStatus[]): string {
  const header = ['name', 'version', 'generation', 'position', 'head', 'status', 'last rebuild'];
  return table(header, statuses.map(cellsOf)).join('\n');
}

function cellsOf({ name, version, generation, position, head, gap, state, rebuild, lastRebuild }: ProjectionStatus) {
  const progress = state === 'in memory' ? 'in memory' : gapText(name, gap);
  const status = rebuild === null ? progress : `rebuilding: ${rebuildText(rebuild)}`;
  return [name, version, generation, position, head, status, lastRebuildCell(name, lastRebuild)];
}

type ShownRebuild = NonNullable<ProjectionStatus['rebuild']>;

const phases: Readonly<Record<ShownRebuild['phase'], string>> = {
  building: 'reading the log',
  comparing: 'comparing the new rows with those in use',
  keeping: 'the new rows are in use, the old ones are kept for running reads',
  dropping: 'removing the rows that are not in use',
};

/**
 * Describes the phase of a rebuild, or the store that it waits for. The text includes a percentage while the rebuild
 * reads the log.
 */
export function rebuildText({ phase, position, head, waitsFor }: ShownRebuild): string {
  if (waitsFor !== null) return waitText(waitsFor);
  return position < head && phase === 'building'
    ? `${phases[phase]}, ${Math.floor((position / head) * 100)}%`
    : phases[phase];
}

/** Returns the cell for the last rebuild. The vault stores only how a rebuild of the token rows ended. */
function lastRebuildCell(name: ProjectionName, last: ProjectionStatus['lastRebuild']): string | null {
  if (last !== null) return lastRebuildText(last);
  return name === 'tokens' ? null : 'not recorded';
}

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

function rebuildJson({ eventsPerSecond, left, acceptNew, waitsFor, ...rebuild }: ShownRebuild): JsonObject {
  const rate = Math.round(eventsPerSecond * 10) / 10;
  return { ...rebuild, events_per_second: rate, seconds_left: left, accept_new: acceptNew, waits_for: waitsFor };
}
