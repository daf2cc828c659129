import { counted } from '../../domain/text.js';
import type { ProjectionName, ProjectionStatus, RebuildStatus } from '../../ports/projections.js';
import { table } from '../table.js';

/** A cluster stops counting the events that a projection has not read here. */
const gapMax = 1_000;

/** Returns all projections as a table. */
export function statusTable(statuses: readonly ProjectionStatus[]): string {
  const header = ['name', 'version', 'generation', 'position', 'head', 'status', 'last rebuild'];
  return table(header, statuses.map(cellsOf)).join('\n');
}

function cellsOf({ name, version, generation, position, head, gap, state, rebuild, lastRebuild }: ProjectionStatus) {
  const progress = state === 'in memory' ? 'in memory' : gapText(name, gap);
  const status = rebuild === null ? progress : `rebuilding: ${rebuildText(rebuild)}`;
  return [...[name, version, generation, position, head], status, lastRebuild === null ? null : outcomeOf(lastRebuild)];
}

/**
 * Says how far behind the log a projection is. Commands destroy the keys that events end before they respond, so the events
 * that the shredder has not read only wait to be checked once more.
 */
export function gapText(name: string, gap: number | null): string {
  if (gap === null) return 'unknown, because a store is unavailable';
  if (gap === 0) return 'up to date';
  const events = gap === gapMax ? `at least ${counted(gap, 'event')}` : counted(gap, 'event');
  const shredder: ProjectionName = 'shredder';
  return name === shredder ? `${events} to check` : `${events} behind`;
}

const phases: Readonly<Record<RebuildStatus['phase'], string>> = {
  building: 'reading the log',
  comparing: 'comparing the new rows with those in use',
  keeping: 'the new rows are in use, the old ones are kept for running reads',
  dropping: 'removing the rows that are not in use',
};

/** Names the phase of a rebuild, with its share of the log while it reads that. */
export function rebuildText({ phase, position, head }: Pick<RebuildStatus, 'phase' | 'position' | 'head'>): string {
  return position < head && phase === 'building'
    ? `${phases[phase]}, ${Math.floor((position / head) * 100)}%`
    : phases[phase];
}

function outcomeOf({ outcome, different }: NonNullable<ProjectionStatus['lastRebuild']>): string | null {
  if (outcome === 'different') return `${counted(different, 'row')} differed`;
  if (outcome === 'key_lost') return 'a key of a token is lost';
  return outcome === 'failed' ? 'failed, see the log' : null;
}
