import { counted } from '../../domain/text.js';
import type { ProjectionName } from '../../ports/projections.js';

/** The cluster profile counts unread events only up to this number. */
const gapMax = 1_000;

/**
 * Describes how far a projection is behind the log. If the shredder is behind, ended keys do not necessarily still
 * exist. Commands destroy ended keys before they respond, and the shredder only verifies this.
 */
export function gapText(name: string, gap: number | null): string {
  if (gap === null) return 'unknown, because a store is unavailable';
  if (gap === 0) return 'up to date';
  const events = gap === gapMax ? `at least ${counted(gap, 'event')}` : counted(gap, 'event');
  const shredder: ProjectionName = 'shredder';
  return name === shredder ? `${events} to check` : `${events} behind`;
}
