import type { RebuildStatus } from './projections.js';

/**
 * The state of the service in detail, for its operators (docs/contract.md, "Operations routes"). It contains only words
 * of ours.
 */
export type ServiceState = {
  /** The reasons why it is not ready; empty if it is ready. */
  readonly reasons: readonly string[];
  /** What the operator should know even if the service is ready. */
  readonly notices: readonly string[];
  readonly stores: readonly { readonly name: string; readonly state: 'up' | 'down' }[];
  /** `gap` is the number of events of the log that it has not seen yet; null while a store is down. */
  readonly projections: readonly { readonly name: string; readonly gap: number | null }[];
  /** The rebuild that is running in this process; null if there is none. */
  readonly rebuild: RebuildStatus | null;
  /** When the newest complete backup was begun, ms; null if none is known. */
  readonly backupMadeAt: number | null;
};
