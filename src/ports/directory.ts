import type { DirectoryRecord } from '../views/directory-view.js';
import type { Stored } from '../views/row-mac.js';

export type ApplicationFilter = {
  /** Null: any. */
  readonly ids: readonly string[] | null;
  readonly types: readonly string[] | null;
};

/**
 * Writes rows where log and directory are separate stores. A record that is older than the stored one changes
 * nothing.
 */
export type DirectoryWriter = {
  /**
   * Writes the records that events after the tenant's revision `before` lead to (-1: from the start). Returns `gap` if
   * the tenant's stored row is not at `before`; the caller then folds the stream and writes all records.
   */
  write(records: readonly Stored<DirectoryRecord>[], before: number): Promise<'written' | 'stale' | 'gap'>;
  /** Writes all records of a tenant, folded from its whole stream. */
  writeAll(records: readonly Stored<DirectoryRecord>[]): Promise<unknown>;
};

/**
 * Tenants and applications. `UnitOfWork.commit` writes their rows with their events. The row of a tenant is never newer
 * than those of its applications, so a process that reads it first and appends at its revision has missed nothing.
 */
export interface Directory<R extends DirectoryRecord = Stored<DirectoryRecord>> {
  byKeyHash(keyHash: string): Promise<R | null>;
  get(kind: DirectoryRecord['kind'], id: string): Promise<R | null>;
  list(kind: DirectoryRecord['kind']): Promise<readonly R[]>;
  /** Returns a page of the tenant's living applications, newest first, and their number on all pages. */
  applications(
    tenantId: string,
    filter: ApplicationFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly records: readonly R[]; readonly total: number }>;
  /** Returns the minute in which a key was last used, counted from 1970-01-01 (UTC); null if it was not used yet. */
  keyUsedIn(keyHash: string): Promise<number | null>;
  /** Records that a key was used in this minute. Ignores an earlier minute and an unknown key. */
  markKeyUsed(keyHash: string, minute: number): Promise<void>;
}
