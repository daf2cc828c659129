import { counted } from '../../domain/text.js';
import type { ProjectionName, ProjectionStatus } from '../../ports/projections.js';
import { countedGapMax } from '../../ports/service-state.js';

const shredder: ProjectionName = 'shredder';

/**
 * Explains why events that the shredder has yet to check are no warning. Returns null for all other projections, and if
 * no event is left to check.
 */
export function gapNote(name: string, gap: number | null): string | null {
  if (name !== shredder || gap === null || gap === 0) return null;
  return 'The shredder is only a safeguard: the vault destroys a token’s keys before it responds to a delete.';
}

/**
 * Describes how far a projection is behind the log. If the shredder is behind, this does not mean that ended keys still
 * exist. Commands destroy ended keys before they respond, and the shredder only verifies that they have done so.
 */
export function gapText(name: string, gap: number | null): string {
  if (gap === null) return 'unknown, because a store is unavailable';
  if (gap === 0) return 'up to date';
  const events = gap === countedGapMax ? `at least ${counted(gap, 'event')}` : counted(gap, 'event');
  return name === shredder ? `${events} to check` : `${events} behind`;
}

type LastRebuild = NonNullable<ProjectionStatus['lastRebuild']>;

/** Describes how the last rebuild of a projection ended: `done`, or `stopped, 2 rows differed`. */
export function lastRebuildText({ outcome, different }: LastRebuild): string {
  const differed = `${counted(different, 'row')} differed`;
  switch (outcome) {
    case 'done':
      return different === 0 ? 'done' : `done, ${differed}`;
    case 'different':
      return `stopped, ${differed}`;
    case 'key_lost':
      return 'stopped, a token key is lost';
    case 'failed':
      return 'failed, see the log';
    case 'cancelled':
      return 'canceled';
  }
}
