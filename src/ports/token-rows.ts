import type { TokenType } from '../domain/token/types/token-type.js';
import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';
import type { PageRequest, SearchPage, SearchPlan, WalkStep } from './search-plan.js';
import type { RowIndex } from './unit-of-work.js';

export type DueRow = {
  readonly stream: string;
  readonly tenantId: string;
  readonly due: 'expiry' | 'cvc';
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
};

/**
 * Writes rows where log and rows are stores of their own; elsewhere rows are written with their events alone. A write
 * applies when there is no row of the stream or an older one, so that whoever comes late or twice harms nothing.
 */
export type TokenRowWriter = {
  /**
   * `before`: the revision that the events of the view follow; `at`: ms, when a removal happened. `stored`: there is a row
   * as new or newer. `gap`: the index is to be kept, but some row is not the one at `before`, and stays.
   */
  write(view: Stored<TokenView>, index: RowIndex, before: number, at: number): Promise<'stored' | 'gap'>;
  /** The stored revision of each stream that has a row. */
  revisionsOf(streams: readonly string[]): Promise<ReadonlyMap<string, number>>;
};

/** One row a token: the folded view, sealed as the events sealed it, and its due times. */
export interface TokenRows<V extends TokenView = Stored<TokenView>> {
  /** The row of a living or removed token, its state without ended keys; null when there never was one or its tombstone has gone. */
  get(stream: string): Promise<V | null>;
  /**
   * Returns the living, not yet expired token of the tenant with this keyed fingerprint that was created last, or null. Threat:
   * a caller that creates tokens with its guesses learns by which token it meets whether an older one has the value, too.
   */
  findByFingerprint(tenantId: string, fingerprintHash: string, now: number): Promise<string | null>;
  /**
   * One page of the living, not yet expired tokens that a plan finds, and how many it finds, both as of one instant and
   * with every change that has resolved. Throws StoreUnavailable for a search that takes too long, and
   * GenerationDropped for a plan of rows that are there no more.
   */
  search(plan: SearchPlan, page: PageRequest): Promise<SearchPage<V>>;
  /**
   * The rows of one step of a walk, the later creating event first; fewer than `limit`: there are no more. A position of
   * creation never moves, so steps that each go on from the last row (`life.createdPosition`) meet every token that
   * lives throughout exactly once, whatever is written meanwhile. Throws as `search`.
   */
  walk(plan: SearchPlan, step: WalkStep): Promise<readonly V[]>;
  /** How many living, not yet expired tokens of each type the tenant has at `now`; a type without any is left out. */
  countByType(tenantId: string, now: number): Promise<ReadonlyMap<TokenType, number>>;
  /**
   * Returns at most `limit` rows whose expiry is due at `now`, or whose cvc purge is due at `codesNow` (as `now` without it),
   * earliest first.
   */
  due(now: number, limit: number, codesNow?: number): Promise<readonly DueRow[]>;
  /** The earliest due time of all rows, or null. */
  nextDueAt(): Promise<number | null>;
  /** Returns the rows after a stream in the order of their names, tombstones too, at most `limit`. */
  page(afterStream: string, limit: number): Promise<readonly V[]>;
}
