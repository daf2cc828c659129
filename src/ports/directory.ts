import type { ApplicationType } from '../domain/access/application-type.js';
import type { Stored } from '../views/row-mac.js';

/** A tenant or an application as its events left it (`views/directory-view.ts`). */
export type DirectoryRecord = {
  readonly kind: 'tenant' | 'application';
  readonly id: string;
  readonly tenantId: string;
  /** Null for a tenant. */
  readonly applicationType: ApplicationType | null;
  /** Of a tenant: of the newest event of its stream, whatever that changed. Of an application: of its own newest event. */
  readonly revision: number;
  /** Revision of the event that made it: the order of applications. */
  readonly createdRevision: number;
  /** Revision of the event that holds `content`; part of what the box is bound to. */
  readonly contentRevision: number;
  readonly content: Uint8Array | null;
  /** The living API keys; each by its id and the hex SHA-256 that it is found by. */
  readonly keys: readonly { readonly id: string; readonly hash: string }[];
  /** Milliseconds since the epoch, or null while it lives. */
  readonly removedAt: number | null;
};

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
