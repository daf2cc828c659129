import type { Collection, Db, Timestamp } from 'mongodb';
import type { ChainLink } from '../../../ports/event-chain.js';
import type { RememberedCheckpoint } from '../../../ports/key-ring.js';
import type { TenantKeyPurpose } from '../../key-ring/tenant-key.js';
import type { RequiredIndexes } from '../required-indexes.js';

/** One of a tenant's keys. `number` counts those of one purpose from 1, so that no two processes add the same one. */
export type TenantKeyDocument = {
  readonly _id: string;
  readonly tenant: string;
  readonly purpose: TenantKeyPurpose;
  readonly number: number;
  readonly made_at: number;
  /** Milliseconds; null: it lives. */
  readonly destroyed_at: number | null;
  readonly destroyed_by: Buffer | null;
  /** Sealed under the root key; null once it is destroyed. */
  readonly wrapped: Buffer | null;
  /** A rotation has begun to replace it: it wraps nothing new. */
  readonly retiring?: boolean;
};

/** One data key. `stamp` is the server's own time of the insert, distinct and rising: the order of making. */
export type DataKeyDocument = {
  readonly _id: Buffer;
  readonly stamp: Timestamp;
  readonly tenant_key: string;
  readonly made_at: number;
  readonly log_head: number;
  readonly destroyed_at: number | null;
  readonly destroyed_by: Buffer | null;
  /** What was noted of the token whose content lies under the key; absent: nothing yet. */
  readonly revision?: number;
  /** Sealed under the tenant's key; null once it is destroyed. */
  readonly wrapped: Buffer | null;
};

/** The key of search terms of one generation of token rows. */
export type GenerationKeyDocument = {
  readonly _id: number;
  readonly made_at: number;
  readonly destroyed_at: number | null;
  readonly wrapped: Buffer | null;
};

/** The newest revision of a tenant or an application, by `directoryName`. */
export type DirectoryRevisionDocument = { readonly _id: string; readonly revision: number };

/**
 * Counts uses: how many keys a tenant's key has wrapped, or (`traces.` and the tenant) how many traces were sealed. It
 * is a collection of its own, so that counting rewrites no wrapped key.
 */
export type WrapsDocument = { readonly _id: string; readonly count: number };

/**
 * `restoring` while keys are restored, `root_check` (bytes; `uses` changes with all that is wrapped), `log_id` (text),
 * `rotation` (`begun` or `ended`; `at`: when it began, ms), `copies_void_before` (ms), `clock` (a `ClockRecord`), and
 * the checkpoints of `KeyRingReader` (numbers).
 */
export type MetaDocument = {
  readonly _id: string;
  readonly value: Buffer | string | number;
  readonly uses?: number;
  readonly at?: number;
};

/** What the key store remembers of the log, in `meta` too. */
export type LogMemoryDocument = {
  readonly _id: (typeof logMemories)[number];
  readonly checkpoint?: RememberedCheckpoint | null;
  readonly link?: ChainLink | null;
};
export const logMemories = ['log_checkpoint', 'log_link'] as const;

/** The document of `meta` that is there while keys are restored, and after that was cut off. */
export const restoringMark = 'restoring';
/** Its value once all of them are there: nothing is ever removed from a key store. */
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

/** Every query of the key store goes by one of these or by `_id`. */
export const keyIndexes: readonly RequiredIndexes[] = [
  {
    collection: 'tenant_keys',
    indexes: [{ name: 'tenant_purpose_number', key: { tenant: 1, purpose: 1, number: 1 }, unique: true }],
  },
  { collection: 'data_keys', indexes: [{ name: 'living_stamp', key: { destroyed_at: 1, stamp: 1 } }] },
];
