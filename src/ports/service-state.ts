import type { RebuildStatus } from './projections.js';

/**
 * The state of the service in detail, for those who run it (docs/contract.md, "Operations routes"). Words of ours
 * alone.
 */
export type ServiceState = {
  /** What keeps it from being ready; empty: ready. */
  readonly reasons: readonly string[];
  /** What the operator should know although the service is ready. */
  readonly notices: readonly string[];
  readonly stores: readonly { readonly name: string; readonly state: 'up' | 'down' }[];
  /** `gap`: how many events of the log it has not seen yet; null while a store is down. */
  readonly projections: readonly { readonly name: string; readonly gap: number | null }[];
  /** The rebuild that is under way in this process; null: none. */
  readonly rebuild: RebuildStatus | null;
  /** When the newest whole backup was begun, ms; null: none is known. */
  readonly backupMadeAt: number | null;
};
