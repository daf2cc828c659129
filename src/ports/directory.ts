/** A tenant or an application as its last event sealed it (`events/directory`). */
export type DirectoryRecord = {
  readonly kind: 'tenant' | 'application';
  readonly id: string;
  readonly tenantId: string;
  readonly stream: string;
  readonly revision: number;
  /** Revision of the event that holds `content`; part of what the box is bound to. */
  readonly contentRevision: number;
  readonly content: Uint8Array | null;
  /** Hex SHA-256 of each live API key. */
  readonly keyHashes: readonly string[];
  /** Milliseconds since the epoch, or null while it lives. */
  readonly removedAt: number | null;
};

/** Tenants and applications. Rows are written by `UnitOfWork.commit` beside their events. */
export interface Directory {
  byKeyHash(keyHash: string): Promise<DirectoryRecord | null>;
  get(kind: DirectoryRecord['kind'], id: string): Promise<DirectoryRecord | null>;
  list(kind: DirectoryRecord['kind']): Promise<readonly DirectoryRecord[]>;
}
