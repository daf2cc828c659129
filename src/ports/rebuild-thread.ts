import type { DirectoryRecord } from '../views/directory-view.js';
import type { Stored } from '../views/row-mac.js';
import type { BuiltRow } from './generations.js';

/** The rows of the streams with events on a page of the log. `position` is that of its last event. */
export type BuiltPage = { readonly rows: readonly BuiltRow[]; readonly events: number; readonly position: number };

/** The generation that is read, and the one that is being built. */
export type TwoGenerations = { readonly from: number; readonly generation: number };

/** The streams to compare: at most `limit` after a name, or the given ones. */
export type ComparedStreams =
  | { readonly after: string; readonly limit: number }
  | { readonly streams: readonly string[] };

/** `last` is the name after which the next page begins; null on the last page. */
export type ComparedPage = {
  readonly rows: number;
  readonly different: readonly string[];
  readonly last: string | null;
};

/** All rows of the directory as of a position of the log. */
export type FoldedDirectory = { readonly records: readonly Stored<DirectoryRecord>[]; readonly upTo: number };

/** The slow part of a rebuild. It reads, folds, decrypts and compares. It writes nothing. */
export type RebuildThread = {
  /** Returns the rows of a page of the log, without those that the new generation already has. */
  build(generations: TwoGenerations, after: number, limit: number): Promise<BuiltPage>;
  /** Compares the rows of live tenants in both generations. */
  compare(generations: TwoGenerations, which: ComparedStreams): Promise<ComparedPage>;
  directory(): Promise<FoldedDirectory>;
  /**
   * Forgets all keys. Nothing can be built, compared or folded afterwards, but no other process may rebuild before
   * `close`.
   */
  forgetKeys(): Promise<void>;
  close(): Promise<void>;
};
