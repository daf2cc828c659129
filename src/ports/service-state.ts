import type { RebuildStatus } from './projections.js';

/**
 * The detailed state of the service, for its operators (docs/contract.md, "Operations routes"). All text in it comes
 * from our own code, never from a caller or a library.
 */
export type ServiceState = {
  /** The reasons why the service is not ready. Empty if it is ready. */
  readonly reasons: readonly string[];
  /** Messages that the operator should see even if the service is ready. */
  readonly notices: readonly string[];
  readonly stores: readonly { readonly name: string; readonly state: 'up' | 'down' }[];
  /** `gap` is the number of log events that the projection has not processed yet, or null while a store is down. */
  readonly projections: readonly { readonly name: string; readonly gap: number | null }[];
  /** The rebuild that is running in this process, or null if there is none. */
  readonly rebuild: RebuildStatus | null;
  /** When the newest complete backup began, in ms. Null if no backup is known. */
  readonly backupMadeAt: number | null;
};
