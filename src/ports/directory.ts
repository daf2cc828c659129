import type { DirectoryRecord } from '../views/directory-view.js';
import type { Stored } from '../views/row-mac.js';
import type { Maybe } from './maybe.js';

export type ApplicationFilter = {
  /** Null matches any id. In `types`, null matches any type. */
  readonly ids: readonly string[] | null;
  readonly types: readonly string[] | null;
};

/**
 * Writes directory rows if the log and the directory are in separate stores. Ignores a record that is older than the
 * stored record.
 */
export type DirectoryWriter = {
  /**
   * Writes the records that result from the events after the tenant's revision `before`. If these events are the first
   * in the stream, `before` is -1. Returns `stale` if the stored row is at least as new as the records. Returns `gap`
   * if the tenant's stored row is not at revision `before`. In that case, the caller must fold the stream and write all
   * records.
   */
  write(records: readonly Stored<DirectoryRecord>[], before: number): Promise<'written' | 'stale' | 'gap'>;
  /**
   * Writes all of a tenant's records, folded from the tenant's whole stream. Returns the record that cannot be written
   * because the row of another record contains one of its keys.
   */
  writeAll(records: readonly Stored<DirectoryRecord>[]): Promise<'written' | 'stale' | 'gap' | BlockedRecord>;
};

export type BlockedRecord = { readonly blocked: Pick<DirectoryRecord, 'kind' | 'id'> };

/**
 * The directory of tenants and applications. `UnitOfWork.commit` writes their rows together with their events. A
 * tenant's row is never newer than the rows of its applications. Therefore, if a process reads the tenant's row first
 * and the append at that row's revision succeeds, the process has not missed any change.
 */
export interface Directory<R extends DirectoryRecord = Stored<DirectoryRecord>> {
  byKeyHash(keyHash: string): Promise<R | null>;
  get(kind: DirectoryRecord['kind'], id: string): Promise<R | null>;
  list(kind: DirectoryRecord['kind']): Promise<readonly R[]>;
  /**
   * Returns a page of the tenant's applications that have not been deleted, newest first, and the total across all
   * pages. An adapter that reads the rows in this process awaits `pause` between small parts. Threat: a tenant creates
   * so many applications that reading them all at once would stall other callers.
   */
  applications(
    tenantId: string,
    filter: ApplicationFilter,
    page: { readonly offset: number; readonly limit: number },
    pause: () => Maybe<void>,
  ): Promise<{ readonly records: readonly R[]; readonly total: number }>;
  /**
   * Returns the minute in which a key was last used, as the number of minutes since 1970-01-01 (UTC). Returns null if
   * the key has not been used yet.
   */
  keyUsedIn(keyHash: string): Promise<number | null>;
  /**
   * Records that a key was used in the given minute. Does nothing if a later minute is already recorded or the key is
   * unknown.
   */
  markKeyUsed(keyHash: string, minute: number): Promise<void>;
}
