import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';

/**
 * What a search looks for, in terms that a row was stored with (`RowIndex`) and due times; no text of a caller is in it.
 * An empty `and` is every token, an empty `or` none.
 */
export type PlanNode =
  | { readonly is: 'term'; readonly term: string }
  | { readonly is: 'and' | 'or'; readonly of: readonly PlanNode[] }
  | { readonly is: 'not'; readonly of: PlanNode }
  /** From an instant, included, to another, excluded; ms since the epoch, null: open. No date is in no range. */
  | {
      readonly is: 'date';
      readonly column: 'created_at' | 'modified_at';
      readonly from: number | null;
      readonly to: number | null;
    };

export type SearchPlan = {
  readonly tenantId: string;
  /** The generation of rows whose terms it names: it is looked for in those. */
  readonly generation: number;
  /** The term that every token of the tenant has. */
  readonly all: string;
  readonly where: PlanNode;
};

/**
 * Tokens that are due at `now` are not found. With `contentBytesMax`, rows whose contents take more together are left
 * for later, all but the first.
 */
export type PageRequest = {
  readonly now: number;
  readonly offset: number;
  readonly limit: number;
  readonly contentBytesMax?: number;
};

/** The life of a token that a search found, and the revision of its row. */
export type FoundLife = { readonly stream: string; readonly createdRevision: number; readonly revision: number };

/**
 * `total` counts every match, exactly; rows are those of the page, the later creating event first. `later` are those that
 * follow on the page, without their contents.
 */
export type SearchPage<V extends TokenView = Stored<TokenView>> = {
  readonly total: number;
  readonly rows: readonly V[];
  readonly later: readonly FoundLife[];
};

/** How many of the first contents fit, at least one. */
export function fitting(sizes: readonly number[], bytesMax = Number.POSITIVE_INFINITY): number {
  let bytes = 0;
  const tooMany = sizes.findIndex((size, i) => {
    bytes += size;
    return i > 0 && bytes > bytesMax;
  });
  return tooMany < 0 ? sizes.length : tooMany;
}

/** What is left for later of a row. */
export function foundLife({ stream, state }: Pick<TokenView, 'stream' | 'state'>): FoundLife {
  if (state.life === null) throw new Error('a search must exclude tokens that are gone');
  return { stream, createdRevision: state.life.createdRevision, revision: state.revision };
}

/**
 * One step of a walk over everything that a plan finds: at most `limit` rows that were created before the event at
 * position `before`; null: from the newest. Tokens that are due at `now` are not found.
 */
export type WalkStep = { readonly now: number; readonly before: number | null; readonly limit: number };
