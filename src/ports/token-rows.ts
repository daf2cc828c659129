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
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
};

/**
 * Writes rows where log and rows are separate stores; otherwise rows are written only with their events. A write
 * applies if the stream has no row or an older one, so a late or repeated write does no harm.
 */
export type TokenRowWriter = {
  /**
   * Writes a row. `before` is the revision that the events of the view follow. `at` is when a removal happened, ms.
   * Returns `stored` if there is now a row that is as new or newer. Returns `gap` if the index must be kept but some
   * row is not at `before`; that row stays.
   */
  write(view: Stored<TokenView>, index: RowIndex, before: number, at: number): Promise<'stored' | 'gap'>;
  /** Returns the stored revision of each stream that has a row. */
  revisionsOf(streams: readonly string[]): Promise<ReadonlyMap<string, number>>;
};

/** The rows of tokens: one per token, with the folded view, the ciphertexts of its events, and its due times. */
export interface TokenRows<V extends TokenView = Stored<TokenView>> {
  /**
   * Returns the row of a living or removed token, its state without ended keys; null if there is none or its tombstone
   * is gone.
   */
  get(stream: string): Maybe<V | null>;
  /**
   * Returns the living, not yet expired token of the tenant with this keyed fingerprint that was created last, or null.
   * Threat: a caller that creates tokens with its guesses could otherwise tell, by the token that it gets, whether an
   * older token has the value, too.
   */
  findByFingerprint(tenantId: string, fingerprintHash: string, now: number): Promise<string | null>;
  /**
   * Returns one page of the living, not yet expired tokens that a plan finds, and their number. Both are as of one
   * instant and include every change that has resolved. Throws StoreUnavailable for a search that takes too long, and
   * GenerationDropped for a plan on rows that no longer exist.
   */
  search<H extends object = never>(plan: SearchPlan, page: PageRequest & HeldRows<H>): Promise<SearchPage<V | H>>;
  /**
   * Returns the rows of one step of a walk, the latest creation first; fewer than `limit` means that no more follow.
   * The position of a creation never changes. So steps that each continue from the last row (`life.createdPosition`)
   * return every token that exists throughout exactly once, whatever is written in the meantime. Throws the same errors
   * as `search`.
   */
  walk(plan: SearchPlan, step: WalkStep): Promise<readonly V[]>;
  /** Counts the tenant's living tokens that are not expired at `now`, by type. Types without tokens are left out. */
  countByType(tenantId: string, now: number): Promise<ReadonlyMap<TokenType, number>>;
  /**
   * Returns at most `limit` rows whose expiry is due at `now`, or whose cvc purge is due at `codesNow` (by default
   * `now`), earliest first.
   */
  due(now: number, limit: number, codesNow?: number): Promise<readonly DueRow[]>;
  /** Returns the earliest due time of all rows, or null. */
  nextDueAt(): Promise<number | null>;
  /** Returns at most `limit` rows after a stream, including tombstones, in the order of their streams. */
  page(afterStream: string, limit: number): Promise<readonly V[]>;
}
