import type { TokenView } from '../projections/token-view.js';
import type { RowIndex } from './unit-of-work.js';

/** Which generation of the token rows is read, and all that every write goes into; the one that is read is among them. */
export type GenerationsInUse = { readonly read: number; readonly write: readonly number[] };

/** A rebuild of the token rows: it lies beside them, so that whoever comes after a crash goes on. */
export type Rebuild = {
  /** The generation that is being made, and the one that is read until then. */
  readonly generation: number;
  readonly from: number;
  /**
   * `building`: rows are made from the log; `comparing`: both generations are looked at; `keeping`: the new one is read, and
   * the old one is kept for those that still read it; `dropping`: rows and key of the generation that goes are removed.
   */
  readonly phase: 'building' | 'comparing' | 'keeping' | 'dropping';
  /** How far in the log all rows are made, and where the log ended when that was looked at. */
  readonly position: number;
  readonly head: number;
  readonly startedAt: number;
  /** When the phase began. Both in milliseconds. */
  readonly phaseAt: number;
  /** What differs is expected: the new rows are read whatever the old ones say. */
  readonly acceptNew: boolean;
  /** How it ends, once that is known: `done`, `cancelled`, or what went wrong. */
  readonly outcome: string | null;
};

/** The row that a stream leads to. `at`: the time of the newest event, ms. */
export type BuiltRow = { readonly view: TokenView; readonly index: RowIndex; readonly at: number };

/**
 * The generations of token rows. One is read; a rebuild adds a second one that every write goes into as well, fills it, and
 * has it read instead (architecture, "Projections").
 */
export interface Generations {
  /** What is in use; a change of it that has resolved is seen by every process within two seconds. */
  inUse(): Promise<GenerationsInUse>;
  /** The version of the projection that made the rows that are read. */
  version(): Promise<number>;
  /** The rebuild that is under way; null: none. */
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
  /** Forgets the rebuild. */
  end(): Promise<void>;
}
