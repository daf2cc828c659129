import type { Rebuild, RebuildOutcome } from './generations.js';

/** What is made from the log and can be made anew. The vocabulary is kept in memory alone. */
export const projectionNames = ['tokens', 'directory', 'shredder', 'vocabulary'] as const;

export type ProjectionName = (typeof projectionNames)[number];

/**
 * A rebuild as an operator sees it. `left`: how long it still reads the log, in seconds; null before and after that
 * is known.
 */
export type RebuildStatus = {
  readonly phase: Exclude<Rebuild['phase'], 'ended'>;
  readonly position: number;
  readonly head: number;
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly left: number | null;
  readonly acceptNew: boolean;
};

/** `error`: what the last rebuild ended with; `examples`: the streams of the tokens that it is about. */
export type ProjectionStatus = {
  readonly name: ProjectionName;
  /** Null: nothing of it is stored. */
  readonly version: number | null;
  readonly generation: number | null;
  readonly position: number | null;
  readonly head: number | null;
  readonly gap: number | null;
  readonly state: 'current' | 'behind' | 'rebuilding' | 'in memory' | 'unknown';
  readonly rebuild: RebuildStatus | null;
  readonly lastRebuild: {
    readonly outcome: RebuildOutcome;
    readonly different: number;
    readonly examples: readonly string[];
  } | null;
};

/** What was begun: `done` needed no more than the call, `started` and `resumed` go on by themselves. */
export type RebuildStart = 'done' | 'started' | 'resumed' | 'busy';

/** Projections for those who run the service. */
export type Projections = {
  status(): Promise<readonly ProjectionStatus[]>;
  /** How much a rebuild would read and make; null: nothing is read for it. */
  plan(name: ProjectionName): Promise<{ readonly events: number; readonly rows: number } | null>;
  /** `acceptNew`: the rows that are made are read whatever those say that are read until then. */
  rebuild(name: ProjectionName, acceptNew: boolean): Promise<RebuildStart>;
  /** Resolves when nothing of it is left. `too_late`: what it made is read already. */
  cancel(name: ProjectionName): Promise<'cancelled' | 'too_late' | 'none'>;
  /** How long the rows are kept that were read before, seconds. */
  readonly keptSeconds: number;
};
