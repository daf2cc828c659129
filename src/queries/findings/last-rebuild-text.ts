import { counted } from '../../domain/text.js';
import type { ProjectionStatus } from '../../ports/projections.js';

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
