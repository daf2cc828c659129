import type { Rebuild, RebuildOutcome } from './generations.js';
import type { WaitsFor } from './store-unavailable.js';

/** The projections that can be rebuilt from the log. The vocabulary is kept only in memory. */
export const projectionNames = ['tokens', 'directory', 'shredder', 'days', 'vocabulary'] as const;

export type ProjectionName = (typeof projectionNames)[number];

/**
 * The status of a rebuild, as shown to operators. `left` is the estimated number of seconds until the rebuild has read
 * the whole log, or null if there is no estimate.
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

/**
 * The status of a projection. `examples` contains the streams of a few tokens whose rows differed, or could not be
 * built, in the last rebuild.
 */
export type ProjectionStatus = {
  readonly name: ProjectionName;
  /** Null if the projection is not stored. */
  readonly version: number | null;
  readonly generation: number | null;
  readonly position: number | null;
  readonly head: number | null;
  readonly gap: number | null;
  readonly state: 'current' | 'behind' | 'rebuilding' | 'in memory' | 'unknown';
  /** `waitsFor` is the store that the rebuild waits for. Only the process that does the work knows it. */
  readonly rebuild: (RebuildStatus & { readonly waitsFor: WaitsFor | null }) | null;
  /**
   * How the last rebuild of the token rows ended. Null if none has ended, if the last one was canceled, and for all
   * other projections: they are rebuilt before `rebuild` returns, so its result says how the rebuild ended.
   */
  readonly lastRebuild: {
    readonly outcome: RebuildOutcome;
    readonly different: number;
    readonly examples: readonly string[];
  } | null;
};

/**
 * `done` means that the rebuild is complete. `started` and `resumed` mean that the rebuild continues in the background.
 */
export type RebuildStart = 'done' | 'started' | 'resumed' | 'busy';

/** The projection operations that operators can use. */
export type Projections = {
  status(): Promise<readonly ProjectionStatus[]>;
  /**
   * Returns the position up to which a rebuild would read the log, and the number of rows that it would write. Returns
   * null if it would read nothing. `rows` is null for all projections except `tokens`, because their rows are not
   * counted.
   */
  plan(name: ProjectionName): Promise<{ readonly head: number; readonly rows: number | null } | null>;
  /**
   * Starts or resumes a rebuild. If `acceptNew` is true, the new rows are used even if they differ from the rows in
   * use.
   */
  rebuild(name: ProjectionName, acceptNew: boolean): Promise<RebuildStart>;
  /**
   * Cancels a rebuild. The promise resolves when all traces of the rebuild have been removed. `too_late` means that the
   * rebuilt rows are already in use.
   */
  cancel(name: ProjectionName): Promise<'cancelled' | 'too_late' | 'none'>;
  /** How long a rebuild keeps the previous rows, in seconds. */
  readonly keptSeconds: number;
};
