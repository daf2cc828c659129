import { counted } from '../../domain/text.js';
import type { ProjectionName } from '../../ports/projections.js';

/** A cluster stops counting the events that a projection has not read here. */
const gapMax = 1_000;

/**
 * Says how far behind the log a projection is. Commands destroy the keys that events end before they respond, so the
 * events that the shredder has not read only wait to be checked once more.
 */
export function gapText(name: string, gap: number | null): string {
  if (gap === null) return 'unknown, because a store is unavailable';
  if (gap === 0) return 'up to date';
  const events = gap === gapMax ? `at least ${counted(gap, 'event')}` : counted(gap, 'event');
  const shredder: ProjectionName = 'shredder';
  return name === shredder ? `${events} to check` : `${events} behind`;
}
