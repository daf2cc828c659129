import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';
import type { ProjectionVersions, StoredProjection } from '../views/versions.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { RowIndex } from './unit-of-work.js';

/** The first generation of token rows in a new vault. */
export const firstGeneration = 1;

/** Thrown for a search whose rows were replaced. The caller must plan the search again for the new rows. */
export class GenerationDropped extends StoreUnavailable {
  constructor(store: string) {
    super(store, 'generation_dropped');
    this.name = 'GenerationDropped';
  }
}

/**
 * The generation of token rows that is read, and all generations that every write must update, including the one that
 * is read.
 */
export type GenerationsInUse = { readonly read: number; readonly write: readonly number[] };

/** A rebuild of the token rows. It is stored with them, so that another process can continue it after a crash. */
export type Rebuild = {
  /** The generation that is being built, and the one that is read until then. */
  readonly generation: number;
  readonly from: number;
  /**
   * `building`: rows are built from the log. `comparing`: both generations are compared. `keeping`: the new one is
   * read, and the old one is kept for searches that are still running. `dropping`: the rows and the key of one
   * generation are removed. `ended`: the rebuild is over, and its result is kept until the next one.
   */
  readonly phase: 'building' | 'comparing' | 'keeping' | 'dropping' | 'ended';
  /** The position up to which all rows are built, and the head of the log when it was last read. */
  readonly position: number;
  readonly head: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Differences are expected: the new rows are used regardless. */
  readonly acceptNew: boolean;
  /** The outcome, once it is known. */
  readonly outcome: RebuildOutcome | null;
  /** The number of rows that differ between the generations, and the streams of the first of them. */
  readonly different: number;
  readonly examples: readonly string[];
  /** The rate; null before any work was done. */
  readonly rate: RebuildRate | null;
};

/**
 * The rate since the process began to run the rebuild. `positionsPerSecond` allows estimating when it will reach the
 * head of the log.
 */
export type RebuildRate = {
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly positionsPerSecond: number;
};

/**
 * `different`: the generations differ, and the operator did not accept that. `key_lost`: a token in the log cannot be
 * decrypted.
 */
export type RebuildOutcome = 'done' | 'cancelled' | 'different' | 'key_lost' | 'failed';

/** The row of a stream. `at` is the time of its newest event, ms. */
export type BuiltRow = { readonly view: Stored<TokenView>; readonly index: RowIndex; readonly at: number };

/**
 * The generations of token rows. One is read. A rebuild adds a second one, which every write then updates as well,
 * fills it, and switches to it (docs/design.md, "Rebuild"). Where several processes could run a rebuild, only one does,
 * and the methods that change its state throw StoreUnavailable in all others.
 */
export interface Generations {
  /** Returns the generations in use. Every process sees a change within two seconds after it has resolved. */
  inUse(): Promise<GenerationsInUse>;
  /** Returns the version of the code that built each projection; for token rows, of the generation that is read. */
  versions(): Promise<ProjectionVersions>;
  saveVersion(name: StoredProjection, version: number): Promise<void>;
  /** Returns the running rebuild, or the last one, or null. */
  rebuild(): Promise<Rebuild | null>;
  /** Adds the empty generation of a rebuild to those that are written. Returns false if a rebuild is running. */
  begin(rebuild: Rebuild): Promise<boolean>;
  /** Stores the progress of a rebuild. */
  save(rebuild: Rebuild): Promise<void>;
  /** Writes rows into a generation that is being built. It does not overwrite rows that are as new or newer. */
  put(generation: number, rows: readonly BuiltRow[]): Promise<void>;
  /**
   * Switches to the new generation, which this version of the projection built, and returns true. Returns false if an
   * event after the position has no row in it yet.
   */
  swap(rebuild: Rebuild, version: number): Promise<boolean>;
  /** Stops writes into a generation that is not read. */
  leave(generation: number): Promise<void>;
  /**
   * Removes a few rows of an abandoned generation, so that other work does not wait. Returns true once none are left.
   */
  empty(generation: number): Promise<boolean>;
  /** Asks the process that runs the rebuild of this generation to cancel it. */
  askCancel(generation: number): Promise<void>;
  isCancelAsked(generation: number): Promise<boolean>;
  /** Returns those of the given generations that are not written. They will never be written again. */
  retire(generations: readonly number[]): Promise<readonly number[]>;
  /** Stores the rebuild as the last one, or removes it. */
  end(last: Rebuild | null): Promise<void>;
}
