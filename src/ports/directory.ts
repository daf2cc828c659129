import type { DirectoryRecord } from '../views/directory-view.js';
import type { Stored } from '../views/row-mac.js';

export type ApplicationFilter = {
  /** Null: any. */
  readonly ids: readonly string[] | null;
  readonly types: readonly string[] | null;
};

/** Writes rows where log and directory are stores of their own. Older records than the stored ones change nothing. */
export type DirectoryWriter = {
  /**
   * The records that events after the tenant's revision `before` lead to (-1: none). `gap`: the tenant's stored row is not the
   * one at `before`; whoever wrote folds the stream and writes all.
   */
  write(records: readonly Stored<DirectoryRecord>[], before: number): Promise<'written' | 'stale' | 'gap'>;
  /** All records of a tenant, folded from its whole stream. */
  writeAll(records: readonly Stored<DirectoryRecord>[]): Promise<unknown>;
};

/**
 * Tenants and applications. Rows are written by `UnitOfWork.commit` beside their events; the row of a tenant is never
 * newer than those of its applications, so that who reads it first and appends at its revision has missed nothing.
 */
export interface Directory<R extends DirectoryRecord = Stored<DirectoryRecord>> {
  byKeyHash(keyHash: string): Promise<R | null>;
  get(kind: DirectoryRecord['kind'], id: string): Promise<R | null>;
  list(kind: DirectoryRecord['kind']): Promise<readonly R[]>;
  /** Living applications of a tenant, the newest first, and how many there are on all pages. */
  applications(
    tenantId: string,
    filter: ApplicationFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly records: readonly R[]; readonly total: number }>;
  /** The day (counted from 1970-01-01, UTC) that a key was last used on; null: not yet. */
  keyUsedOn(keyHash: string): Promise<number | null>;
  /** Notes that a key was used on this day. Never goes back; an unknown key is ignored. */
  markKeyUsed(keyHash: string, day: number): Promise<void>;
}
