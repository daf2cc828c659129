import type { DirectoryRecord } from '../views/directory-view.js';
import type { Stored } from '../views/row-mac.js';
import type { BuiltRow } from './generations.js';

/** The rows of the streams that have events on a page of the log. `position`: of its last event. */
export type BuiltPage = { readonly rows: readonly BuiltRow[]; readonly events: number; readonly position: number };

/** The generation that is read, and the one that is being made. */
export type TwoGenerations = { readonly from: number; readonly generation: number };

/** All streams after a name, so many; or these. */
export type ComparedStreams =
  | { readonly after: string; readonly limit: number }
  | { readonly streams: readonly string[] };

/** `last`: the name that the next page comes after; null: this was the last one. */
export type ComparedPage = {
  readonly rows: number;
  readonly different: readonly string[];
  readonly last: string | null;
};

/** All rows of the directory, as of a position of the log. */
export type FoldedDirectory = { readonly records: readonly Stored<DirectoryRecord>[]; readonly upTo: number };

/** The part of a rebuild that takes long: it reads, folds, opens and compares, and writes nothing. */
export type RebuildThread = {
  /** Rows after a position of the log, without those that the generation that is being made has already. */
  build(generations: TwoGenerations, after: number, limit: number): Promise<BuiltPage>;
  /** Looks at the rows of living tenants in both generations. */
  compare(generations: TwoGenerations, which: ComparedStreams): Promise<ComparedPage>;
  directory(): Promise<FoldedDirectory>;
  /**
   * Forgets all keys. Nothing is built, compared or folded afterwards, but no other process may rebuild before
   * `close`.
   */
  forgetKeys(): Promise<void>;
  close(): Promise<void>;
};
