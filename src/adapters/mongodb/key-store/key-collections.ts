import type { Collection, Db, Timestamp } from 'mongodb';
import type { ChainLink } from '../../../ports/event-chain.js';
import type { RememberedCheckpoint, TenantKeyPurpose } from '../../../ports/key-store.js';
import type { MongoConnection } from '../connection.js';
import type { RequiredIndexes } from '../required-indexes.js';

/**
 * A tenant key. `number` counts the tenant's keys for the same purpose, starting at 1. A unique index includes
 * `number`, so two processes cannot both add the next key.
 */
export type TenantKeyDocument = {
  readonly _id: string;
  readonly tenant: string;
  readonly purpose: TenantKeyPurpose;
  readonly number: number;
  readonly made_at: number;
  /** The time when the key was destroyed, in ms since the epoch, or null if it has not been destroyed. */
  readonly destroyed_at: number | null;
  readonly destroyed_by: Buffer | null;
  /** The key, sealed under the root key, or null after the key has been destroyed. */
  readonly wrapped: Buffer | null;
  /** True if a rotation has begun to replace the key. A key that is being replaced wraps no new keys. */
  readonly retiring?: boolean;
};

/**
 * A data key. `stamp` is the time when the server inserted the document. Each stamp is larger than all earlier stamps,
 * so stamps show the order of creation.
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
   * The newest recorded revision of the token whose content is sealed under this key. Absent if no revision has been
   * recorded.
   */
  readonly revision?: number;
  /** The key, sealed under the tenant's wrapping key, or null after the key has been destroyed. */
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
 * A counter. The document with a tenant key's id counts the keys that this tenant key has wrapped. The document
 * `traces.<tenant>` counts the tenant's sealed traces. The counters are in a separate collection, so that counting does
 * not rewrite documents that contain wrapped keys.
 */
export type WrapsDocument = { readonly _id: string; readonly count: number };

/**
 * A document in `meta`. The following documents exist:
 * - `restoring`: created when a restore begins. `uses` increases with every write of the restore.
 * - `root_check`: bytes. `uses` increases with every key that is wrapped.
 * - `log_id`: a string.
 * - `rotation`: `begun` or `ended`. `at` is the time when the rotation began, in ms.
 * - `copies_void_before`: a time in ms.
 * - `clock`: a `ClockRecord`.
 * - One document for each `KeyRingReader`: the checkpoint of the reader, as a number.
 */
export type MetaDocument = {
  readonly _id: string;
  readonly value: Buffer | string | number;
  readonly uses?: number;
  readonly at?: number;
};

/** What the key store has recorded about the log. These documents are also in the collection `meta`. */
export type LogMemoryDocument = {
  readonly _id: (typeof logMemories)[number];
  readonly checkpoint?: RememberedCheckpoint | null;
  readonly link?: ChainLink | null;
};
export const logMemories = ['log_checkpoint', 'log_link'] as const;

/**
 * The id of the document in `meta` that shows whether the key store has been restored completely. A restore creates
 * this document when it begins.
 */
export const restoringMark = 'restoring';
/**
 * The value of the document `restoring` after all keys have been restored. The document is not removed, because
 * documents are never removed from a key store.
 */
export const restored = 'ended';

/** Returns the name of the database for the keys. `database` is the name of the database for the rows. */
export function keysDatabase(database: string): string {
  return `${database}_keys`;
}

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

/** Returns the value of a document in `meta`, or null if there is no such document. */
export async function metaValue({ call }: MongoConnection, id: string): Promise<MetaDocument['value'] | null> {
  return (await call((db) => keyCollections.meta(db).findOne({ _id: id })))?.value ?? null;
}

/** Stores a number in `meta`, unless the stored number is larger. */
export async function raiseMetaValue({ call }: MongoConnection, id: string, value: number): Promise<void> {
  await call((db) => keyCollections.meta(db).updateOne({ _id: id }, { $max: { value } }, { upsert: true }));
}

/** Returns the names of the collections that exist in the key store. */
export async function keyCollectionNames(db: Db): Promise<readonly string[]> {
  const all = await db.listCollections({}, { nameOnly: true }).toArray();
  return all.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
}

/** The number of ids on a page. A command for a whole collection could exceed the time limit of a call. */
const idsOnAPage = 20_000;

type Id = Buffer | string;

/** Reads the ids of a collection of the key store in order, in pages that are not empty. */
export async function* idPages({ call }: MongoConnection, collection: string): AsyncIterable<readonly Id[]> {
  for (let after: Id | undefined; ; ) {
    const query = after === undefined ? {} : { _id: { $gt: after } };
    const found = await call((db) =>
      db
        .collection<{ readonly _id: Id }>(collection)
        .find(query, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(idsOnAPage)
        .toArray(),
    );
    const ids = found.map(({ _id }) => _id);
    if (ids.length > 0) yield ids;
    if (ids.length < idsOnAPage) return;
    after = ids.at(-1);
  }
}

export const dataKeyIndexes: RequiredIndexes = {
  collection: 'data_keys',
  indexes: [{ name: 'living_stamp', key: { destroyed_at: 1, stamp: 1 } }],
};

/** Every query on the key store uses `_id` or one of these indexes. */
export const keyIndexes: readonly RequiredIndexes[] = [
  {
    collection: 'tenant_keys',
    indexes: [{ name: 'tenant_purpose_number', key: { tenant: 1, purpose: 1, number: 1 }, unique: true }],
  },
  dataKeyIndexes,
];
