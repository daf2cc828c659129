import type { TokenType } from '../domain/token/types/token-type.js';
import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';
import type { Maybe } from './maybe.js';
import type { HeldRows, PageRequest, SearchPage, SearchPlan, WalkStep } from './search-plan.js';
import type { RowIndex } from './unit-of-work.js';

export type DueRow = {
  readonly stream: string;
  readonly tenantId: string;
  readonly due: 'expiry' | 'cvc';
  /** The due time, in milliseconds since the epoch. */
  readonly dueAt: number;
};

/**
 * Writes rows when the log and the rows are in separate stores. If they share one store, rows are written only together
 * with their events. A write takes effect only if the stream has no row or an older row, so a late or repeated write
 * does no harm.
 */
export type TokenRowWriter = {
  /**
   * Writes a row. `before` is the revision just before the new events. If the token was removed, `at` is the time of
   * its removal in ms. Returns `stored` if the stored row is now at least as new as the view. Returns `gap` and changes
   * nothing if the row's index must be kept but the stored row is not at revision `before`.
   */
  write(view: Stored<TokenView>, index: RowIndex, before: number, at: number): Promise<'stored' | 'gap'>;
  /** Returns the stored revision of each stream that has a row. */
  revisionsOf(streams: readonly string[]): Promise<ReadonlyMap<string, number>>;
};

/**
 * The token rows. Each token has one row, which contains the token's folded view, its ciphertexts and its due times.
 */
export interface TokenRows<V extends TokenView = Stored<TokenView>> {
  /**
   * Returns the row of a token, even if the token is gone. The state in the row does not list ended keys. Returns null
   * if there is no row, or if the token's tombstone has been deleted.
   */
  get(stream: string): Maybe<V | null>;
  /**
   * Returns the streams of the tenant's live tokens with this keyed fingerprint, most recently created first, and at
   * most `limit` of them. Threat: a caller creates tokens from guessed values. If the oldest token came first, the id
   * of a duplicate would reveal whether a different token already had the value.
   */
  findByFingerprint(tenantId: string, fingerprintHash: string, now: number, limit: number): Promise<readonly string[]>;
  /**
   * Returns one page of the live tokens that match a plan, and the total number of matches. The page and the total
   * reflect the same moment, and include every change whose promise has resolved. Throws StoreUnavailable if the search
   * takes too long, and GenerationDropped if the plan refers to rows that no longer exist.
   */
  search<H extends object = never>(plan: SearchPlan, page: PageRequest & HeldRows<H>): Promise<SearchPage<V | H>>;
  /**
   * Returns the rows of one step of a walk, most recently created first. If a step returns fewer than `limit` rows, the
   * walk is complete. Each step continues from the `life.createdPosition` of the previous step's last row. That
   * position never changes, so a token that exists during the whole walk is returned exactly once, no matter what is
   * written during the walk. Throws the same errors as `search`.
   */
  walk(plan: SearchPlan, step: WalkStep): Promise<readonly V[]>;
  /** Counts the tenant's tokens that are live at `now`, by type. Omits types without tokens. */
  countByType(tenantId: string, now: number): Promise<ReadonlyMap<TokenType, number>>;
  /**
   * Returns at most `limit` rows whose expiry is due at `now` or whose cvc purge is due at `codesNow`, earliest first.
   * `codesNow` defaults to `now`.
   */
  due(now: number, limit: number, codesNow?: number): Promise<readonly DueRow[]>;
  /** Returns the earliest due time of all rows, or null if no row has a due time. */
  nextDueAt(): Promise<number | null>;
  /** Returns at most `limit` rows whose streams sort after `afterStream`, in stream order. Tombstones are included. */
  page(afterStream: string, limit: number): Promise<readonly V[]>;
}
