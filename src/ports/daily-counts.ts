/**
 * A series of counts. `tokens` counts the token events in the event log by token type, and `what` is `created`,
 * `deleted` or `expired`. `accesses` counts the accesses to tokens in the access log by operation, and `what` is the
 * outcome of the operation.
 */
export type DailySeries = 'tokens' | 'accesses';

export type DayCount = {
  readonly tenantId: string;
  readonly series: DailySeries;
  /** The number of days since 1970-01-01 (UTC). */
  readonly day: number;
  /** A token type or an operation. */
  readonly name: string;
  readonly what: string;
  readonly count: number;
};

/** The total for one `name` and `what` over several days. */
export type CountTotal = Pick<DayCount, 'name' | 'what' | 'count'>;

/** The counts from one source between the positions `from` and `to`. */
export type CountStep = {
  /** The event log, or one chain of the access log. Each source has its own position. */
  readonly source: string;
  readonly from: number;
  readonly to: number;
  readonly counts: readonly DayCount[];
  /**
   * The tenants that were deleted between `from` and `to`. Their counts are removed after this step's counts have been
   * added.
   */
  readonly ended: readonly string[];
};

/**
 * For each tenant and day, stores how many tokens were created, how many were deleted, how many expired, and how often
 * tokens were accessed. Contains no token ids. The counts are not authenticated, because they appear only in charts and
 * no decision depends on them.
 */
export interface DailyCounts {
  /**
   * Returns how far each source has been counted, as a position in the source. Omits sources that have not been counted
   * yet.
   */
  positions(): Promise<ReadonlyMap<string, number>>;
  /**
   * Atomically adds the counts of a step and advances the position of its source. Returns false and changes nothing if
   * the source's stored position is not `from`.
   */
  add(step: CountStep): Promise<boolean>;
  /** Returns a tenant's counts for the days `from` through `to`. */
  days(tenantId: string, series: DailySeries, from: number, to: number): Promise<readonly DayCount[]>;
  /** Returns a tenant's totals over all days before `day`. */
  totalsBefore(tenantId: string, series: DailySeries, day: number): Promise<readonly CountTotal[]>;
  /** Removes all counts and positions. */
  clear(): Promise<void>;
}
