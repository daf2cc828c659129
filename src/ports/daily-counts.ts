/**
 * What is counted: tokens by type, from the event log, and accesses to tokens by operation, from the access log. `what`
 * is `created`, `deleted` or `expired` of a token type, and the outcome of an operation.
 */
export type DailySeries = 'tokens' | 'accesses';

export type DayCount = {
  readonly tenantId: string;
  readonly series: DailySeries;
  /** The day, counted from 1970-01-01 in UTC. */
  readonly day: number;
  /** A token type or an operation. */
  readonly name: string;
  readonly what: string;
  readonly count: number;
};

/** The sum of a name and a `what` over several days. */
export type CountTotal = Pick<DayCount, 'name' | 'what' | 'count'>;

/** Counts of one source, from a position to a later one. */
export type CountStep = {
  /** The event log, or a chain of the access log. Each source has its own position. */
  readonly source: string;
  readonly from: number;
  readonly to: number;
  readonly counts: readonly DayCount[];
  /** Tenants whose counts are removed, after the counts of this step were added. */
  readonly ended: readonly string[];
};

/**
 * How many tokens of each tenant were created and ended on each day, and how often they were read. Contains no token
 * ids. Its contents are not authenticated: they are figures for a chart, which no decision depends on.
 */
export interface DailyCounts {
  /** Returns the position up to which each source was counted. A source that is missing was not counted yet. */
  positions(): Promise<ReadonlyMap<string, number>>;
  /**
   * Adds the counts of a step and moves the position of its source, all or nothing. Returns false, and changes nothing,
   * if the source is not at `from`.
   */
  add(step: CountStep): Promise<boolean>;
  /** Returns the counts of a tenant on the days from `from` up to and including `to`. */
  days(tenantId: string, series: DailySeries, from: number, to: number): Promise<readonly DayCount[]>;
  /** Returns the sums of a tenant over all days before one day. */
  totalsBefore(tenantId: string, series: DailySeries, day: number): Promise<readonly CountTotal[]>;
  /** Removes all counts and positions. */
  clear(): Promise<void>;
}
