import type { Rebuild, RebuildOutcome } from './generations.js';

/** The projections of the log, which can be rebuilt. The vocabulary is kept only in memory. */
export const projectionNames = ['tokens', 'directory', 'shredder', 'days', 'vocabulary'] as const;

export type ProjectionName = (typeof projectionNames)[number];

/** A rebuild as an operator sees it. `left` is the time until it has read the log, in seconds; null if unknown. */
export type RebuildStatus = {
  readonly phase: Exclude<Rebuild['phase'], 'ended'>;
  readonly position: number;
  readonly head: number;
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly left: number | null;
  readonly acceptNew: boolean;
};

/** The result of the last rebuild. `examples` are the streams of tokens that are concerned. */
export type ProjectionStatus = {
  readonly name: ProjectionName;
  /** Null if the projection is not stored. */
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

/** `done` means that the rebuild is complete; `started` and `resumed`, that it continues in the background. */
export type RebuildStart = 'done' | 'started' | 'resumed' | 'busy';

/** The projections, for operators. */
export type Projections = {
  status(): Promise<readonly ProjectionStatus[]>;
  /** Returns how much a rebuild would read and write; null if it reads nothing. */
  plan(name: ProjectionName): Promise<{ readonly events: number; readonly rows: number } | null>;
  /** With `acceptNew`, the new rows are used even if they differ from those in use. */
  rebuild(name: ProjectionName, acceptNew: boolean): Promise<RebuildStart>;
  /** Cancels a rebuild and resolves when nothing of it is left. `too_late` means that its rows are already in use. */
  cancel(name: ProjectionName): Promise<'cancelled' | 'too_late' | 'none'>;
  /** How long the previous rows are kept, in seconds. */
  readonly keptSeconds: number;
};
