import type { RebuildStatus } from './projections.js';
import type { FoundProblem } from './store-problem.js';

/**
 * In the cluster profile, the events that a projection has not processed yet are counted only up to this number, because
 * counting reads them.
 */
export const countedGapMax = 1_000;

/**
 * The detailed state of the service, for its operators (docs/contract.md, "Operations routes"). All of its text comes
 * from our own code, never from a caller or a library.
 */
export type ServiceState = {
  /** The reasons why the service is not ready. Empty if it is ready. */
  readonly reasons: readonly string[];
  /** Problems that the operator must fix although the service is ready. */
  readonly notices: readonly FoundProblem[];
  /** `problem` is the problem that the operator must fix before the store can be used, if it is known. */
  readonly stores: readonly {
    readonly name: string;
    readonly state: 'up' | 'down';
    readonly problem?: FoundProblem;
  }[];
  /**
   * `gap` is the number of log events that the projection has not processed yet, or null while a store is down. In the
   * cluster profile, `countedGapMax` means that there may be more.
   */
  readonly projections: readonly { readonly name: string; readonly gap: number | null }[];
  /** The rebuild that is running in this process, or null if no rebuild is running. */
  readonly rebuild: RebuildStatus | null;
  /**
   * True if a process does the background work. In the embedded profile, the service does it itself. Null while a store
   * is down.
   */
  readonly hasLeader: boolean | null;
  /** The time in ms at which the newest complete backup began. Null if no backup is known. */
  readonly backupMadeAt: number | null;
};
