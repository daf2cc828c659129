import { counted } from '../../domain/text.js';
import type { ProjectionName } from '../../ports/projections.js';

/** The limit up to which a cluster counts the events that a projection has not read. */
const gapMax = 1_000;

/**
 * Describes how far behind the log a projection is. Commands destroy the keys that events end before they respond. For
 * events that the shredder has not read yet, only a second check of these keys is pending.
 */
export function gapText(name: string, gap: number | null): string {
  if (gap === null) return 'unknown, because a store is unavailable';
  if (gap === 0) return 'up to date';
  const events = gap === gapMax ? `at least ${counted(gap, 'event')}` : counted(gap, 'event');
  const shredder: ProjectionName = 'shredder';
  return name === shredder ? `${events} to check` : `${events} behind`;
}
