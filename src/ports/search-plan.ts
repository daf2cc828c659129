import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';

/**
 * A node of a search plan. It refers to stored search terms (`RowIndex`) and dates, and contains no text from a caller.
 * An empty `and` matches every token, and an empty `or` matches none.
 */
export type PlanNode =
  | { readonly kind: 'term'; readonly term: string }
  | { readonly kind: 'and' | 'or'; readonly of: readonly PlanNode[] }
  | { readonly kind: 'not'; readonly of: PlanNode }
  /**
   * A range of times in ms since the epoch. `from` is inclusive and `to` is exclusive. If either is null, the range is
   * open at that end. A token that does not have the date matches no range.
   */
  | {
      readonly kind: 'date';
      readonly column: 'created_at' | 'modified_at';
      readonly from: number | null;
      readonly to: number | null;
    };

export type SearchPlan = {
  readonly tenantId: string;
  /** The generation of rows that the search reads. The terms in the plan belong to this generation. */
  readonly generation: number;
  /** The term that all of the tenant's tokens have. */
  readonly all: string;
  readonly where: PlanNode;
};

/**
 * The page to return. Tokens that are due at `now` are excluded. If `contentBytesMax` is set, the page always includes
 * the contents of the first row, and the contents of as many of the next rows as fit within that total size. The
 * remaining rows are returned in `SearchPage.later`.
 */
export type PageRequest = {
  readonly now: number;
  readonly offset: number;
  readonly limit: number;
  readonly contentBytesMax?: number;
};

/** The rows that the caller already has. The store may return such a row instead of reading it again. */
export type HeldRows<H> = {
  /** Returns the row for a stream and a revision, or undefined if the caller does not have that row. */
  readonly held?: (stream: string, revision: number) => H | undefined;
  /**
   * Returns the rows of a whole page, in the order of `positions`. Each position is the `life.createdPosition` of a
   * token. Returns undefined if the caller does not have all of these rows, if their contents exceed the page's
   * `contentBytesMax`, or if any row may have changed since the search began.
   */
  readonly heldPage?: (positions: readonly number[]) => readonly H[] | undefined;
};

/**
 * Identifies one life of a token that matched a search. `revision` is the revision of its row at the time of the
 * search.
 */
export type FoundLife = { readonly stream: string; readonly createdRevision: number; readonly revision: number };

/**
 * `total` is the exact number of matches. `rows` contains the first matches on the page, most recently created first.
 * `later` contains the remaining matches on the page, without contents.
 */
export type SearchPage<V = Stored<TokenView>> = {
  readonly total: number;
  readonly rows: readonly V[];
  readonly later: readonly FoundLife[];
};

/**
 * Returns how many contents, beginning with the first, fit within `bytesMax`. The first content is always counted, even
 * if it does not fit.
 */
export function fitting(sizes: readonly number[], bytesMax = Number.POSITIVE_INFINITY): number {
  let bytes = 0;
  const tooMany = sizes.findIndex((size, i) => {
    bytes += size;
    return i > 0 && bytes > bytesMax;
  });
  return tooMany < 0 ? sizes.length : tooMany;
}

/** Converts a row to an entry of `SearchPage.later`. */
export function foundLife({ stream, state }: Pick<TokenView, 'stream' | 'state'>): FoundLife {
  if (state.life === null) throw new Error('a search must exclude tokens that are gone');
  return { stream, createdRevision: state.life.createdRevision, revision: state.revision };
}

/**
 * One step of a walk over the matches of a plan. The step returns at most `limit` rows whose tokens were created before
 * the position `before`, newest first. If `before` is null, the step begins with the newest row. It excludes tokens
 * that are due at `now`.
 */
export type WalkStep = { readonly now: number; readonly before: number | null; readonly limit: number };
