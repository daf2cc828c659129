import type { Collection, Db } from 'mongodb';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import { directoryCollection } from './directory-indexes.js';

type Key = {
  readonly id: string;
  readonly hash: string;
  /** The minute in which the key was last used, as minutes since the epoch. This time is not recorded in any event. */
  readonly used_on?: number;
};

/** A document in the collection `directory`. Each tenant and each application has one document. */
export type DirectoryDocument = {
  /** `tenant-<id>` or `application-<id>`. */
  readonly _id: string;
  readonly kind: DirectoryRecord['kind'];
  readonly id: string;
  readonly tenant: string;
  readonly type: DirectoryRecord['applicationType'];
  readonly revision: number;
  readonly created_revision: number;
  readonly content_revision: number;
  readonly content: Buffer | null;
  readonly keys: readonly Key[];
  readonly removed_at: number | null;
  /** The MAC over all fields except `used_on`. */
  readonly mac: Buffer;
};

export function directoryIn(db: Db): Collection<DirectoryDocument> {
  return db.collection(directoryCollection);
}

export function documentId(kind: DirectoryRecord['kind'], id: string): string {
  return `${kind}-${id}`;
}

/** Returns all fields of a record except its keys. */
export function fieldsOf(record: Stored<DirectoryRecord>): Omit<DirectoryDocument, '_id' | 'keys'> {
  const { kind, id, revision, content } = record;
  return {
    kind,
    id,
    tenant: record.tenantId,
    type: record.applicationType,
    revision,
    created_revision: record.createdRevision,
    content_revision: record.contentRevision,
    content: content === null ? null : Buffer.from(content),
    removed_at: record.removedAt,
    mac: Buffer.from(record.mac),
  };
}

/**
 * Returns the keys in a document. Threat: an attacker replaces the list of keys in one document, so that every read of
 * all documents fails, and also the rebuild that would repair the document. Without its keys, the record is not
 * authentic.
 */
export function keysIn({ keys }: Pick<DirectoryDocument, 'keys'>): readonly Key[] {
  return Array.isArray(keys) ? keys.filter((key) => key !== null) : [];
}

export function recordOf(document: DirectoryDocument): Stored<DirectoryRecord> {
  const { kind, id, revision, content, mac } = document;
  return {
    kind,
    id,
    tenantId: document.tenant,
    applicationType: document.type,
    revision,
    content,
    mac,
    createdRevision: document.created_revision,
    contentRevision: document.content_revision,
    keys: keysIn(document).map(({ id, hash }) => ({ id, hash })),
    removedAt: document.removed_at,
  };
}
