import type { Collection, Db, Timestamp } from 'mongodb';
import type { ChainLink } from '../../../ports/event-chain.js';
import type { RememberedCheckpoint, TenantKeyPurpose } from '../../../ports/key-store.js';
import type { RequiredIndexes } from '../required-indexes.js';

/**
 * One of a tenant's keys. `number` counts the tenant's keys for the same purpose, starting at 1. A unique index that
 * includes it prevents two processes from both adding the next key.
 */
export type TenantKeyDocument = {
  readonly _id: string;
  readonly tenant: string;
  readonly purpose: TenantKeyPurpose;
  readonly number: number;
  readonly made_at: number;
  /** When the key was destroyed, in ms since the epoch. Null if it has not been destroyed. */
  readonly destroyed_at: number | null;
  readonly destroyed_by: Buffer | null;
  /** The key, sealed under the root key, or null once the key is destroyed. */
  readonly wrapped: Buffer | null;
  /** True if a rotation has begun to replace the key. From then on, the key wraps no new keys. */
  readonly retiring?: boolean;
};

/**
 * One data key. `stamp` is the time at which the server inserted the document. Every stamp is larger than the earlier
 * ones, so stamps show the order of creation.
 */
export type DataKeyDocument = {
  readonly _id: Buffer;
  readonly stamp: Timestamp;
  readonly tenant_key: string;
  readonly made_at: number;
  readonly log_head: number;
  readonly destroyed_at: number | null;
  readonly destroyed_by: Buffer | null;
  /**
   * The newest recorded revision of the token whose content is sealed under the key. Absent if no revision is recorded.
   */
  readonly revision?: number;
  /** The key, sealed under the tenant's wrapping key, or null once the key is destroyed. */
  readonly wrapped: Buffer | null;
};

/** The search-term key for one generation of token rows. */
export type GenerationKeyDocument = {
  readonly _id: number;
  readonly made_at: number;
  readonly destroyed_at: number | null;
  readonly wrapped: Buffer | null;
};

/** The newest recorded revision of a tenant or application. `_id` is its `directoryName`. */
export type DirectoryRevisionDocument = { readonly _id: string; readonly revision: number };

/**
 * A usage counter. If the id is that of a tenant key, the document counts the keys that this key has wrapped. The
 * document `traces.<tenant>` counts the tenant's sealed traces. Because this is a separate collection, counting does
 * not rewrite the documents with wrapped keys.
 */
export type WrapsDocument = { readonly _id: string; readonly count: number };

/**
 * A document in `meta`. There are the following documents: `restoring` (created when a restore begins), `root_check`
 * (bytes; `uses` increases with every key that is wrapped), `log_id` (a string), `rotation` (`begun` or `ended`; `at`
 * is when the rotation began, in ms), `copies_void_before` (ms), `clock` (a `ClockRecord`), and the checkpoint of each
 * `KeyRingReader` (a number).
 */
export type MetaDocument = {
  readonly _id: string;
  readonly value: Buffer | string | number;
  readonly uses?: number;
  readonly at?: number;
};

/** What the key store has recorded about the log. These documents are in `meta` as well. */
export type LogMemoryDocument = {
  readonly _id: (typeof logMemories)[number];
  readonly checkpoint?: RememberedCheckpoint | null;
  readonly link?: ChainLink | null;
};
export const logMemories = ['log_checkpoint', 'log_link'] as const;

/** The id of the document in `meta` that a restore creates when it begins. */
export const restoringMark = 'restoring';
/**
 * The value of the document `restoring` after all keys are restored. The document stays, because nothing is removed
 * from a key store.
 */
export const restored = 'ended';

/** The collections of the key store. */
export const keyCollections = {
  tenantKeys: (db: Db): Collection<TenantKeyDocument> => db.collection('tenant_keys'),
  dataKeys: (db: Db): Collection<DataKeyDocument> => db.collection('data_keys'),
  generationKeys: (db: Db): Collection<GenerationKeyDocument> => db.collection('generation_keys'),
  wraps: (db: Db): Collection<WrapsDocument> => db.collection('wraps'),
  directoryRevisions: (db: Db): Collection<DirectoryRevisionDocument> => db.collection('directory_revisions'),
  meta: (db: Db): Collection<MetaDocument> => db.collection('meta'),
  logMemory: (db: Db): Collection<LogMemoryDocument> => db.collection('meta'),
};

/** Every query on the key store uses `_id` or one of these indexes. */
export const keyIndexes: readonly RequiredIndexes[] = [
  {
    collection: 'tenant_keys',
    indexes: [{ name: 'tenant_purpose_number', key: { tenant: 1, purpose: 1, number: 1 }, unique: true }],
  },
  { collection: 'data_keys', indexes: [{ name: 'living_stamp', key: { destroyed_at: 1, stamp: 1 } }] },
];
