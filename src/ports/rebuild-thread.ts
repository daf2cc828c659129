import type { DirectoryRecord } from '../views/directory-view.js';
import type { Stored } from '../views/row-mac.js';
import type { BuiltRow } from './generations.js';

/**
 * The rows of all streams that have events on one page of the log. `position` is the position of the last event on the
 * page.
 */
export type BuiltPage = { readonly rows: readonly BuiltRow[]; readonly events: number; readonly position: number };

/** The generation used for reads (`from`), and the generation that is being built. */
export type TwoGenerations = { readonly from: number; readonly generation: number };

/** The streams to compare: either at most `limit` streams after a name, or a list of streams. */
export type ComparedStreams =
  | { readonly after: string; readonly limit: number }
  | { readonly streams: readonly string[] };

/** The next page begins after the stream named `last`. `last` is null if the current page is the last page. */
export type ComparedPage = {
  readonly rows: number;
  readonly different: readonly string[];
  readonly last: string | null;
};

/** All directory rows as of a position in the log. */
export type FoldedDirectory = { readonly records: readonly Stored<DirectoryRecord>[]; readonly upTo: number };

/** The slow part of a rebuild. It reads, folds, decrypts and compares, but does not write. */
export type RebuildThread = {
  /** Returns the rows that result from a page of the log, except those that the new generation already has. */
  build(generations: TwoGenerations, after: number, limit: number): Promise<BuiltPage>;
  /** Compares the rows of live tenants in both generations. */
  compare(generations: TwoGenerations, which: ComparedStreams): Promise<ComparedPage>;
  directory(): Promise<FoldedDirectory>;
  /**
   * Discards all keys. After this call, the thread cannot build, compare or fold. Other processes cannot start a
   * rebuild until `close` is called.
   */
  forgetKeys(): Promise<void>;
  close(): Promise<void>;
};
