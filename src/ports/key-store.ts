import type { DirectoryRecord } from '../views/directory-view.js';
import type { ChainLink } from './event-chain.js';
import type { Maybe } from './maybe.js';

/** The event id to record for the destruction of a key that was never named by an event. */
export const noEvent = '00000000-0000-0000-0000-000000000000';

/**
 * A command's event may name a new key only within this time, in ms from the start of the command. A key that no event
 * has named after one hour is destroyed, so a process that was suspended for longer than this limit must not name any
 * new key.
 */
export const keyNamedWithinMs = 600_000;

/**
 * The purpose of a tenant key. The `identity` key never rotates, because subkeys are derived from it. The `wrapping`
 * key wraps data keys, and a rotation replaces it. The `audit-signing` and `integrity` keys belong to the vault, not to
 * a tenant.
 */
export type TenantKeyPurpose = 'identity' | 'wrapping' | VaultKeyPurpose;

/**
 * The vault has one key for each of these purposes. It creates each key on first use. These keys never rotate. A
 * rotation of the root key rewraps them.
 */
export type VaultKeyPurpose = 'audit-signing' | 'integrity';

/**
 * The tenant id of the vault's own keys. Because of this id, the code that rewraps tenant keys also rewraps the vault's
 * keys.
 */
export const vaultKeyTenant = '';

/**
 * The id, tenant and purpose of a tenant key. A wrapped key can be unwrapped only with the same name that was used to
 * wrap it.
 */
export type TenantKeyName = { readonly id: string; readonly tenant: string; readonly purpose: TenantKeyPurpose };

/**
 * A new tenant key, wrapped under the root key. `number` is higher than the numbers of the tenant's older keys for the
 * same purpose.
 */
export type NewTenantKey = TenantKeyName & { readonly number: number; readonly wrapped: Buffer };

/**
 * A tenant key as stored. `wrapped` is null if the key was destroyed. `isRetiring` is true if a rotation is replacing
 * the key.
 */
export type StoredTenantKey = TenantKeyName & {
  readonly number: number;
  readonly wrapped: Buffer | null;
  readonly isRetiring: boolean;
};

export type LivingTenantKey = TenantKeyName & { readonly wrapped: Buffer };

/** A wrapping key that has not been destroyed. */
export type WrappingKey = {
  readonly id: string;
  readonly tenant: string;
  readonly number: number;
  readonly isRetiring: boolean;
};

export type NewDataKey = { readonly id: string; readonly wrapped: Buffer };

/** A data key as stored, with the tenant key that wraps it. `wrapped` is null if the key was destroyed. */
export type StoredDataKey = {
  readonly tenantKeyId: string;
  readonly wrapped: Buffer | null;
  /** The newest revision that was recorded for the key (`KeyRevision`), or null if no revision was recorded. */
  readonly revision: number | null;
};

export type LivingDataKey = { readonly id: string; readonly tenantKeyId: string; readonly wrapped: Buffer };

/**
 * A data key that has been rewrapped under a newer key of its tenant. `from` is the id of the old tenant key, and `to`
 * is the id of the new tenant key.
 */
export type RewrappedDataKey = {
  readonly id: string;
  readonly wrapped: Buffer;
  readonly from: string;
  readonly to: string;
};

/**
 * The key of one generation of token rows, wrapped under the root key. Each tenant's search-term key is derived from
 * it.
 */
export type LivingGenerationKey = { readonly generation: number; readonly wrapped: Buffer };

/** All keys wrapped under the root key, rewrapped under the next root key. */
export type RewrappedKeys = {
  readonly tenantKeys: readonly { readonly id: string; readonly wrapped: Buffer }[];
  readonly generationKeys: readonly LivingGenerationKey[];
};

/** A key, and the event that marks it for destruction. Erasure needs the ids of both. */
export type EndedKey = { readonly keyId: string; readonly eventId: string };

/**
 * A key that still exists, and the newest recorded revision of the token whose content is or was encrypted under the
 * key. If a row has this key but an older revision, an older copy of the row has been restored. No revision is recorded
 * for a key until a change to its token keeps the key.
 */
export type KeyRevision = { readonly keyId: string; readonly revision: number };

/** The kind and id of a directory record. */
export type DirectoryName = Pick<DirectoryRecord, 'kind' | 'id'>;

/** The newest revision of a directory record. */
export type DirectoryRevision = DirectoryName & Pick<DirectoryRecord, 'revision'>;

/**
 * Returns the name of a record as one string. These strings are the keys of the map that `directoryRevisions` returns.
 */
export function directoryName({ kind, id }: DirectoryName): string {
  return `${kind}-${id}`;
}

/**
 * A data key that has not been destroyed. Keys are numbered in the order in which they were created. `logHead` is the
 * head of the log before the key was created, so no event up to that position can name the key. `madeAt` is the time
 * when the key was created, in milliseconds since the epoch.
 */
export type MadeKey = {
  readonly sequence: number;
  readonly keyId: string;
  readonly madeAt: number;
  readonly logHead: number;
};

/**
 * The readers of the log or the keys, each with the value that the key store records for it:
 * - `shredder`: a position in the log.
 * - `orphans`: the sequence number of a key.
 * - `anchor`: the newest checkpoint that was delivered.
 * - `log`: a position that the log once reached. A log that ends before this position is an older copy.
 * - `backup`: the time in ms when the newest backup began. Only the cluster profile uses this record, because the
 *   embedded profile stores the time in a file.
 */
export type KeyRingReader = 'shredder' | 'orphans' | 'anchor' | 'log' | 'backup';

/** The key store's record of a checkpoint: its number, its hash in hex, and the signature over the hash. */
export type RememberedCheckpoint = { readonly number: number; readonly hash: string; readonly signature: string };

/**
 * The key store's record of the log. The vault uses this record to reject a truncated or rewritten log. `link` is a
 * link that was once part of the log's chain. A field is null if nothing has been recorded for it yet.
 */
export type LogMemory = { readonly checkpoint: RememberedCheckpoint | null; readonly link: ChainLink | null };

/** The state of a data key. */
export type KeyStatus = {
  readonly keyId: string;
  /** The time of destruction, in milliseconds since the epoch. Null if the key has not been destroyed. */
  readonly destroyedAt: number | null;
};

/** The records that a key store contains in addition to keys. Every write is durable once its promise resolves. */
export type KeyRecords = {
  /** Records revisions of directory records. Ignores revisions that are older than the recorded ones. */
  noteDirectory(revisions: readonly DirectoryRevision[]): Promise<void>;
  /**
   * Returns the recorded revisions of these records, keyed by `directoryName`. Omits records without a recorded
   * revision.
   */
  directoryRevisions(records: readonly DirectoryName[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Returns at most `limit` existing keys whose sequence number is greater than `afterSequence` and that were created
   * before `madeBefore` (ms), in order. If several processes create keys, `madeBefore` must be several minutes in the
   * past. Otherwise, a key with a lower sequence number than a returned key could still be added.
   */
  made(afterSequence: number, madeBefore: number, limit: number): Promise<readonly MadeKey[]>;
  /** Returns the state of each of these keys. Omits keys that are not in the store. */
  keyStatuses(keyIds: readonly string[]): Promise<readonly KeyStatus[]>;
  /**
   * Returns true if a lookup by this id finds a row that contains a different id, because the row is damaged. The key
   * can be used, but every copy of the row has lost it. A store that checks what it reads from its files returns false.
   */
  hasDamagedId(keyId: string): Promise<boolean>;
  /**
   * Returns how far a reader of the log or the keys has progressed, or 0 if it has not started. The position is stored
   * in the key store, so restoring an older copy of the key store also sets the reader back.
   */
  checkpoint(name: KeyRingReader): Promise<number>;
  saveCheckpoint(name: KeyRingReader, value: number): Promise<void>;
  logMemory(): Promise<LogMemory>;
  /** Records each field that is newer than the recorded value. A null field changes nothing. */
  rememberLog(memory: LogMemory): Promise<void>;
  /** Replaces the record of the log, because a different copy of the log is now in use. */
  replaceLogMemory(memory: LogMemory): Promise<void>;
};

/** The rows that a rotation reads and writes (ADR 29). */
export type RotationRows = {
  /**
   * Marks all existing wrapping keys as retiring, and records that a rotation has begun, unless one has already begun.
   * Records nothing if the root check is no longer `check`. The change is durable once the promise resolves.
   */
  begin(check: Buffer): Promise<void>;
  /** Returns the existing wrapping keys of all tenants, in order of their numbers. */
  wrappingKeys(): Maybe<readonly WrappingKey[]>;
  countLivingDataKeys(): Maybe<number>;
  /**
   * Returns at most `limit` existing data keys after a sequence number, in order, and the sequence number of the last
   * returned key. Returns null if no keys are left.
   */
  livingDataKeys(
    afterSequence: number,
    limit: number,
  ): Maybe<{ readonly keys: readonly LivingDataKey[]; readonly last: number } | null>;
  /** Stores these rewrapped keys. Skips a key that has been destroyed, or that is no longer wrapped under `from`. */
  rewrapDataKeys(keys: readonly RewrappedDataKey[]): Promise<void>;
  /**
   * In one atomic step, stores the keys that `rewrap` returns and the check of the next root key, and destroys the
   * retiring keys. `keys_left` means that a retiring key still wraps a data key, or that a key was added while
   * `replaceRoot` was running.
   */
  replaceRoot(root: {
    readonly check: Buffer;
    readonly nextCheck: Buffer;
    readonly rewrap: (
      tenantKeys: readonly LivingTenantKey[],
      generationKeys: readonly LivingGenerationKey[],
    ) => RewrappedKeys;
  }): Promise<'replaced' | 'keys_left' | 'root_replaced'>;
  /**
   * Returns the time (ms) at which the last completed rotation began, or null if no rotation has completed. Copies of
   * the key store from before this time are useless without the root key that was in use when they were made.
   */
  voidBefore(): Promise<number | null>;
  /**
   * Resolves when the store's files no longer contain any key that has been replaced. MongoDB cannot guarantee this
   * (ADR 22).
   */
  settle(): Promise<void>;
};

/**
 * Stores wrapped keys. The store never receives an unwrapped key or the root key. Every write is durable once its
 * promise resolves. `root_replaced` means that nothing was stored, because `rootCheck` no longer matches the root check
 * in the store.
 */
export interface KeyStore {
  /** `name` identifies the store in errors. `title` is its name in sentences. */
  readonly name: string;
  readonly title: string;
  /**
   * True if other processes may change the keys. In that case, a cached key must be checked on each use (`noted`), and
   * a tenant's keys must be read again after one second.
   */
  readonly isShared: boolean;
  /** Returns an error that states why the keys cannot be used and how to fix this. */
  broken(problem: string): Error;

  /** Returns the root check, which is a value that identifies the root key. Returns null if the store is new. */
  rootCheck(): Maybe<Buffer | null>;
  /**
   * Stores the root check in a new store. Returns the stored check, which differs from `check` if another process
   * stored its check first.
   */
  createRootCheck(check: Buffer): Promise<Buffer>;

  /** Returns a tenant's keys in order of their numbers, including destroyed keys. */
  readTenantKeys(tenantId: string): Maybe<readonly StoredTenantKey[]>;
  /** Returns the tenant keys with these ids, including destroyed keys. Omits ids that do not exist. */
  findTenantKeys(ids: readonly string[]): Maybe<readonly StoredTenantKey[]>;
  /**
   * Stores these keys. A shared store skips a number that the tenant already has, because another process stored that
   * key first. A key that is added after its tenant's keys were destroyed counts as destroyed.
   */
  insertTenantKeys(keys: readonly NewTenantKey[], rootCheck: Buffer): Promise<'stored' | 'root_replaced'>;
  /** Destroys all of a tenant's keys, with the same guarantees as `destroyDataKeys`. */
  destroyTenantKeys(tenantId: string, eventId: string): Promise<number>;

  /** Returns the wrapped key of a generation, or null if the generation has no key or its key was destroyed. */
  generationKey(generation: number): Maybe<Buffer | null>;
  /** Returns the generations that have a key, in order. */
  generations(): Maybe<readonly number[]>;
  /** Returns the highest generation that ever had a key, or 0 if no generation ever had a key. */
  newestGeneration(): Maybe<number>;
  /**
   * Stores the key of a generation. `taken` means that another process stored a key for the generation first. Only a
   * shared store returns `taken`.
   */
  insertGenerationKey(
    generation: number,
    wrapped: Buffer,
    rootCheck: Buffer,
  ): Promise<'stored' | 'taken' | 'root_replaced'>;
  /** Destroys the key of a generation, with the same guarantees as `destroyDataKeys`. The method is idempotent. */
  destroyGenerationKey(generation: number): Promise<void>;

  /** Returns a data key, or null if it never existed. */
  dataKey(keyId: string): Maybe<StoredDataKey | null>;
  /**
   * Returns the recorded revision of a data key, but not the wrapped key. Callers use this method if the key is in
   * their cache. Returns null if the key never existed or was destroyed.
   */
  noted(keyId: string): Maybe<Pick<StoredDataKey, 'revision'> | null>;
  /**
   * Adds `more` to the number of keys that a tenant key has wrapped, and returns the new count. `more` is the number of
   * keys that are about to be wrapped. The new count is durable by the time `insertDataKeys` or `rewrapDataKeys` has
   * stored those keys.
   */
  countWraps(tenantKeyId: string, more: number): Maybe<number>;
  /**
   * Stores data keys. `retiring` means that none of the keys can be used, because the tenant key was destroyed or a
   * rotation is replacing it. A store may also accept data keys under a retiring key. In that case, `replaceRoot`
   * returns `keys_left`.
   */
  insertDataKeys(tenantKeyId: string, keys: readonly NewDataKey[]): Promise<'stored' | 'retiring'>;
  /**
   * Destroys keys, records the revisions in `advanced`, and returns the number of keys that this call destroyed. Once
   * the promise resolves, no reader of the store can find the keys, and no SQLite file contains the wrapped bytes. ADR
   * 22 describes which data MongoDB retains for some time. Throws StoreUnavailable if the work takes more than a few
   * seconds. In that case, a retry continues the work.
   */
  destroyDataKeys(ended: readonly EndedKey[], advanced: readonly KeyRevision[]): Promise<number>;
  /** Records revisions of existing keys in one write. Ignores revisions that are older than the recorded ones. */
  advance(advanced: readonly KeyRevision[]): Promise<void>;
  /** Removes all recorded revisions of keys and directory records. */
  forgetRevisions(): Promise<void>;
  /**
   * Adds `count` to the number of traces that have been sealed for a tenant, and returns the number before the
   * addition.
   */
  reserveTraces(tenantId: string, count: number): Promise<number>;

  readonly rotation: RotationRows;
  readonly records: KeyRecords;
}
