import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';
import type { ProjectionVersions, StoredProjection } from '../views/versions.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { RowIndex } from './unit-of-work.js';

/**
 * A search was planned for rows that are there no more: they were replaced, and the plan is to be made for the new
 * ones.
 */
export class GenerationDropped extends StoreUnavailable {
  constructor(store: string) {
    super(store, 'generation_dropped');
    this.name = 'GenerationDropped';
  }
}

/**
 * Which generation of the token rows is read, and all that every write goes into; the one that is read is among them.
 */
export type GenerationsInUse = { readonly read: number; readonly write: readonly number[] };

/** A rebuild of the token rows: it lies beside them, so that whoever comes after a crash goes on. */
export type Rebuild = {
  /** The generation that is being made, and the one that is read until then. */
  readonly generation: number;
  readonly from: number;
  /**
   * `building`: rows are made from the log; `comparing`: both generations are looked at; `keeping`: the new one is read, and
   * the old one is kept for those that still read it; `dropping`: rows and key of the generation that goes are removed;
   * `ended`: it is over, and kept to be asked for until the next one.
   */
  readonly phase: 'building' | 'comparing' | 'keeping' | 'dropping' | 'ended';
  /** How far in the log all rows are made, and where the log ended when that was looked at. */
  readonly position: number;
  readonly head: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** What differs is expected: the new rows are read whatever the old ones say. */
  readonly acceptNew: boolean;
  /** How it ends, once that is known. */
  readonly outcome: RebuildOutcome | null;
  /** How many rows differ between the generations, and the streams of the first of them. */
  readonly different: number;
  readonly examples: readonly string[];
  /** How fast it goes; null: nothing was done yet. */
  readonly rate: RebuildRate | null;
};

/**
 * Of the process that works at a rebuild, since it began to. `positionsPerSecond` tells when it comes to the end of
 * the log.
 */
export type RebuildRate = {
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly positionsPerSecond: number;
};

/** `different`: the generations do, and nobody said that they may; `key_lost`: a token of the log cannot be opened. */
export type RebuildOutcome = 'done' | 'cancelled' | 'different' | 'key_lost' | 'failed';

/** The row that a stream leads to. `at`: the time of the newest event, ms. */
export type BuiltRow = { readonly view: Stored<TokenView>; readonly index: RowIndex; readonly at: number };

/**
 * The generations of token rows. One is read; a rebuild adds a second one that every write goes into as well, fills it,
 * and has it read instead (docs/design.md, "Rebuild"). Where many processes may begin a rebuild one of them works at
 * it, and what would change its state throws StoreUnavailable in every other.
 */
export interface Generations {
  /** What is in use; a change of it that has resolved is seen by every process within two seconds. */
  inUse(): Promise<GenerationsInUse>;
  /** The version of the code that each projection was made by; of the rows: those that are read. */
  versions(): Promise<ProjectionVersions>;
  saveVersion(name: StoredProjection, version: number): Promise<void>;
  /** The rebuild that is under way, or the last one; null: none. */
  rebuild(): Promise<Rebuild | null>;
  /** Adds the empty generation of a rebuild to those that are written. False: a rebuild is under way. */
  begin(rebuild: Rebuild): Promise<boolean>;
  /** Notes how far it came. */
  save(rebuild: Rebuild): Promise<void>;
  /** Writes rows into a generation that is being built, none over one that is as new or newer. */
  put(generation: number, rows: readonly BuiltRow[]): Promise<void>;
  /**
   * Has the new generation read, made by this version of the projection, and answers true; unless an event after the
   * position has no row in it yet.
   */
  swap(rebuild: Rebuild, version: number): Promise<boolean>;
  /** Writes no more into a generation that is not read. */
  leave(generation: number): Promise<void>;
  /** Removes some rows of a generation that was left, so many that nobody waits; true: nothing of it is left. */
  empty(generation: number): Promise<boolean>;
  /** Asks whoever works at the rebuild that makes this generation to take it back. */
  askCancel(generation: number): Promise<void>;
  isCancelAsked(generation: number): Promise<boolean>;
  /** Which of these generations are not written; none of them ever will be from then on. */
  retire(generations: readonly number[]): Promise<readonly number[]>;
  /** Keeps the rebuild as the last one, or nothing of it. */
  end(last: Rebuild | null): Promise<void>;
}
