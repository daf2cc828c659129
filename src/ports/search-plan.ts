import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';

/**
 * A node of a search plan, in the terms that rows were stored with (`RowIndex`) and in dates. It contains no text of a
 * caller. An empty `and` matches every token, and an empty `or` none.
 */
export type PlanNode =
  | { readonly is: 'term'; readonly term: string }
  | { readonly is: 'and' | 'or'; readonly of: readonly PlanNode[] }
  | { readonly is: 'not'; readonly of: PlanNode }
  /**
   * `from` is included and `to` is excluded; in ms since the epoch, null for an open end. A missing date is in no
   * range.
   */
  | {
      readonly is: 'date';
      readonly column: 'created_at' | 'modified_at';
      readonly from: number | null;
      readonly to: number | null;
    };

export type SearchPlan = {
  readonly tenantId: string;
  /** The generation of rows that the terms belong to, which the search reads. */
  readonly generation: number;
  /** The term that every token of the tenant has. */
  readonly all: string;
  readonly where: PlanNode;
};

/**
 * Tokens that are due at `now` are not found. With `contentBytesMax`, only the first rows whose contents fit together,
 * and at least one, have contents; the others are in `later`.
 */
export type PageRequest = {
  readonly now: number;
  readonly offset: number;
  readonly limit: number;
  readonly contentBytesMax?: number;
};

/**
 * `held` returns a row that the caller already has, by its stream and revision. A store may put it on the page instead
 * of reading the row again.
 */
export type HeldRows<H> = { readonly held?: (stream: string, revision: number) => H | undefined };

/** The life of a token that a search found, and the revision of its row. */
export type FoundLife = { readonly stream: string; readonly createdRevision: number; readonly revision: number };

/**
 * `total` is the exact number of matches. `rows` are the matches on the page, newest creation first. `later` is the
 * rest of the page, without contents.
 */
export type SearchPage<V = Stored<TokenView>> = {
  readonly total: number;
  readonly rows: readonly V[];
  readonly later: readonly FoundLife[];
};

/** Returns how many of the first contents fit, at least one. */
export function fitting(sizes: readonly number[], bytesMax = Number.POSITIVE_INFINITY): number {
  let bytes = 0;
  const tooMany = sizes.findIndex((size, i) => {
    bytes += size;
    return i > 0 && bytes > bytesMax;
  });
  return tooMany < 0 ? sizes.length : tooMany;
}

/** Returns the entry of a row in `later`. */
export function foundLife({ stream, state }: Pick<TokenView, 'stream' | 'state'>): FoundLife {
  if (state.life === null) throw new Error('a search must exclude tokens that are gone');
  return { stream, createdRevision: state.life.createdRevision, revision: state.revision };
}

/**
 * One step of a walk over the matches of a plan: at most `limit` rows that were created before the event at position
 * `before`, or from the newest if it is null. Tokens that are due at `now` are not found.
 */
export type WalkStep = { readonly now: number; readonly before: number | null; readonly limit: number };
