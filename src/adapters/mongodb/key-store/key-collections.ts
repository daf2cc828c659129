import type { Collection, Db, Timestamp } from 'mongodb';
import type { ChainLink } from '../../../ports/event-chain.js';
import type { RememberedCheckpoint, TenantKeyPurpose } from '../../../ports/key-store.js';
import type { RequiredIndexes } from '../required-indexes.js';

/**
 * One of a tenant's keys. `number` counts the keys of one purpose from 1, so that two processes cannot add the same
 * one.
 */
export type TenantKeyDocument = {
  readonly _id: string;
  readonly tenant: string;
  readonly purpose: TenantKeyPurpose;
  readonly number: number;
  readonly made_at: number;
  /** Milliseconds since the epoch, or null for a living key. */
  readonly destroyed_at: number | null;
  readonly destroyed_by: Buffer | null;
  /** The key, sealed under the root key; null once the key is destroyed. */
  readonly wrapped: Buffer | null;
  /** True if a rotation has begun to replace the key. Such a key wraps no new keys. */
  readonly retiring?: boolean;
};

/**
 * One data key. `stamp` is the server's time of the insert. It is distinct and increasing, so it gives the creation
 * order.
 */
export type DataKeyDocument = {
  readonly _id: Buffer;
  readonly stamp: Timestamp;
  readonly tenant_key: string;
  readonly made_at: number;
  readonly log_head: number;
  readonly destroyed_at: number | null;
  readonly destroyed_by: Buffer | null;
  /** The noted revision of the token whose content is sealed under the key; absent if none was noted yet. */
  readonly revision?: number;
  /** The key, sealed under the tenant's wrapping key; null once the key is destroyed. */
  readonly wrapped: Buffer | null;
};

/** The key of search terms of one generation of token rows. */
export type GenerationKeyDocument = {
  readonly _id: number;
  readonly made_at: number;
  readonly destroyed_at: number | null;
  readonly wrapped: Buffer | null;
};

/** The newest revision of a tenant or an application. The id is its `directoryName`. */
export type DirectoryRevisionDocument = { readonly _id: string; readonly revision: number };

/**
 * Usage counters: the document with the id of a tenant's key counts the keys that it has wrapped, and `traces.<tenant>`
 * counts sealed traces. This is a separate collection, so that counting does not rewrite wrapped keys.
 */
export type WrapsDocument = { readonly _id: string; readonly count: number };

/**
 * The documents of `meta`: `restoring` while keys are restored, `root_check` (bytes; `uses` changes with every key that
 * is wrapped), `log_id` (text), `rotation` (`begun` or `ended`; `at`: when it began, ms), `copies_void_before` (ms),
 * `clock` (a `ClockRecord`), and the checkpoints of `KeyRingReader` (numbers).
 */
export type MetaDocument = {
  readonly _id: string;
  readonly value: Buffer | string | number;
  readonly uses?: number;
  readonly at?: number;
};

/** What the key store remembers of the log. These documents are stored in `meta`, too. */
export type LogMemoryDocument = {
  readonly _id: (typeof logMemories)[number];
  readonly checkpoint?: RememberedCheckpoint | null;
  readonly link?: ChainLink | null;
};
export const logMemories = ['log_checkpoint', 'log_link'] as const;

/**
 * The id of the document of `meta` that exists from the start of a restore, and remains if the restore is interrupted.
 */
export const restoringMark = 'restoring';
/**
 * The value of that document once all keys are restored. The document stays, since nothing is removed from a key store.
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

/** Every query of the key store uses one of these indexes or `_id`. */
export const keyIndexes: readonly RequiredIndexes[] = [
  {
    collection: 'tenant_keys',
    indexes: [{ name: 'tenant_purpose_number', key: { tenant: 1, purpose: 1, number: 1 }, unique: true }],
  },
  { collection: 'data_keys', indexes: [{ name: 'living_stamp', key: { destroyed_at: 1, stamp: 1 } }] },
];
