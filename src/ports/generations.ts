import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';
import type { ProjectionVersions, StoredProjection } from '../views/versions.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { RowIndex } from './unit-of-work.js';

/** The number of the first generation of token rows in a new vault. */
export const firstGeneration = 1;

/**
 * Thrown by a search whose generation of rows no longer exists. The caller must plan the search again for the new
 * generation.
 */
export class GenerationDropped extends StoreUnavailable {
  constructor(store: string) {
    super(store, 'generation_dropped');
    this.name = 'GenerationDropped';
  }
}

/**
 * The generation of token rows used for reads, and all generations that every write must update. `write` includes
 * `read`.
 */
export type GenerationsInUse = { readonly read: number; readonly write: readonly number[] };

/**
 * A rebuild of the token rows. Its state is stored with the rows, so that another process can continue the rebuild
 * after a crash.
 */
export type Rebuild = {
  /**
   * `generation` is the generation that is being built. `from` is the generation used for reads until the new
   * generation is ready.
   */
  readonly generation: number;
  readonly from: number;
  /**
   * The phases of a rebuild:
   * - `building`: rows are being built from the log.
   * - `comparing`: the two generations are being compared.
   * - `keeping`: reads use the new generation, and the old generation is kept for searches that are still running.
   * - `dropping`: the rows and the key of one generation are being removed.
   * - `ended`: the rebuild is over, and its result is kept until the next rebuild.
   */
  readonly phase: 'building' | 'comparing' | 'keeping' | 'dropping' | 'ended';
  /** All rows have been built up to `position` in the log. `head` is the head of the log when it was last read. */
  readonly position: number;
  readonly head: number;
  /** The time at which the rebuild began, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The time at which reads switched to the new generation, in milliseconds since the epoch. Null before the switch. */
  readonly swappedAt: number | null;
  /** True if the new rows are used even if they differ from the old rows. */
  readonly acceptNew: boolean;
  /** The outcome, or null if it is not known yet. */
  readonly outcome: RebuildOutcome | null;
  /**
   * `different` is the number of rows that differ between the two generations. `examples` contains the streams of a few
   * of these rows.
   */
  readonly different: number;
  readonly examples: readonly string[];
  /** The progress and speed of the rebuild, or null if no work has been done yet. */
  readonly rate: RebuildRate | null;
};

/**
 * The progress and speed since this process started or resumed the rebuild. `positionsPerSecond` is used to estimate
 * when the rebuild will reach the head of the log.
 */
export type RebuildRate = {
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly positionsPerSecond: number;
};

/**
 * `different`: the generations differ, and the operator did not accept the difference. `key_lost`: a token in the log
 * cannot be decrypted.
 */
export type RebuildOutcome = 'done' | 'cancelled' | 'different' | 'key_lost' | 'failed';

/** The row of a stream. `at` is the time of the stream's newest event, in ms. */
export type BuiltRow = { readonly view: Stored<TokenView>; readonly index: RowIndex; readonly at: number };

/**
 * The generations of token rows. Reads use one of them. A rebuild adds a second generation, fills it while every write
 * updates both generations, and then switches reads to the new generation (docs/design.md, "Rebuild"). Only one process
 * at a time runs a rebuild. In all other processes, the methods that change the rebuild's state throw StoreUnavailable.
 */
export interface Generations {
  /**
   * Returns the generations in use. Once the call that made a change has resolved, every process sees the change within
   * two seconds.
   */
  inUse(): Promise<GenerationsInUse>;
  /**
   * Returns the version of the code that built each projection. For token rows, this is the version that built the
   * generation used for reads.
   */
  versions(): Promise<ProjectionVersions>;
  saveVersion(name: StoredProjection, version: number): Promise<void>;
  /** Returns the running rebuild. If no rebuild is running, returns the last rebuild, or null if none is stored. */
  rebuild(): Promise<Rebuild | null>;
  /**
   * Adds a rebuild's empty generation to the generations that every write updates. Returns false if a rebuild is
   * already running.
   */
  begin(rebuild: Rebuild): Promise<boolean>;
  /** Stores the progress of a rebuild. */
  save(rebuild: Rebuild): Promise<void>;
  /**
   * Writes rows into a generation that is being built. Does not overwrite an existing row that has the same revision or
   * a newer one.
   */
  put(generation: number, rows: readonly BuiltRow[]): Promise<void>;
  /**
   * Switches reads to the new generation, records the version of the projection that built it, and returns true.
   * Returns false if the new generation does not yet reflect every event after the rebuild's position.
   */
  swap(rebuild: Rebuild, version: number): Promise<boolean>;
  /** Stops writes to a generation that is not used for reads. */
  leave(generation: number): Promise<void>;
  /**
   * Removes a few rows of an abandoned generation on each call, so that other work does not have to wait. Returns true
   * when no rows are left. Throws StoreUnavailable if the files cannot be cleared of the removed rows at the moment.
   */
  empty(generation: number): Promise<boolean>;
  /** Asks the process that is rebuilding this generation to cancel the rebuild. */
  askCancel(generation: number): Promise<void>;
  isCancelAsked(generation: number): Promise<boolean>;
  /**
   * Returns the listed generations that are not updated by writes, and ensures that no process writes to those
   * generations again.
   */
  retire(generations: readonly number[]): Promise<readonly number[]>;
  /** Stores `last` as the last rebuild. If `last` is null, removes the stored rebuild. */
  end(last: Rebuild | null): Promise<void>;
}
