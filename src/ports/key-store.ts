import type { DirectoryRecord } from '../views/directory-view.js';
import type { ChainLink } from './event-chain.js';
import type { Maybe } from './maybe.js';

/** The event id of a destroyed key that no event ever named. */
export const noEvent = '00000000-0000-0000-0000-000000000000';

/**
 * How long after its command began an event may name a new key, ms. A key that no event names is destroyed after an
 * hour, so a process that was suspended must not name it after this time.
 */
export const keyNamedWithinMs = 600_000;

/**
 * `identity` never rotates: subkeys derive from it. `wrapping` wraps data keys and may be followed by a newer one. The
 * keys of `audit-signing` and `integrity` belong to the vault, not to a tenant.
 */
export type TenantKeyPurpose = 'identity' | 'wrapping' | VaultKeyPurpose;

/**
 * A vault has one key for each of these purposes, created at its first use. It never rotates; a rotation of the root
 * key rewraps it.
 */
export type VaultKeyPurpose = 'audit-signing' | 'integrity';

/** The tenant id of the vault's own keys. So the code that rewraps tenant keys rewraps them, too. */
export const vaultKeyTenant = '';

/** The id and the purpose of a tenant key. A wrapped key opens only under its own name. */
export type TenantKeyName = { readonly id: string; readonly tenant: string; readonly purpose: TenantKeyPurpose };

/**
 * A new tenant key, wrapped under the root key. `number` is higher than that of the tenant's older keys of the same
 * purpose.
 */
export type NewTenantKey = TenantKeyName & { readonly number: number; readonly wrapped: Buffer };

/** A tenant key as stored. `wrapped` is null if the key was destroyed. A rotation replaces a key that `isRetiring`. */
export type StoredTenantKey = TenantKeyName & {
  readonly number: number;
  readonly wrapped: Buffer | null;
  readonly isRetiring: boolean;
};

export type LivingTenantKey = TenantKeyName & { readonly wrapped: Buffer };

/** A living key that wraps data keys. */
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
  /** The newest revision that was recorded for the key (`KeyRevision`), or null. */
  readonly revision: number | null;
};

export type LivingDataKey = { readonly id: string; readonly tenantKeyId: string; readonly wrapped: Buffer };

/** A data key wrapped under a newer key of its tenant. `from` and `to` are ids of tenant keys. */
export type RewrappedDataKey = {
  readonly id: string;
  readonly wrapped: Buffer;
  readonly from: string;
  readonly to: string;
};

/** The key of search terms of one generation of token rows, wrapped under the root key. */
export type LivingGenerationKey = { readonly generation: number; readonly wrapped: Buffer };

/** Keys that the root key wraps, wrapped under the next one. */
export type RewrappedKeys = {
  readonly tenantKeys: readonly { readonly id: string; readonly wrapped: Buffer }[];
  readonly generationKeys: readonly LivingGenerationKey[];
};

/** A key and the event that ended it: erasure needs both. */
export type EndedKey = { readonly keyId: string; readonly eventId: string };

/**
 * The newest revision of a token whose content is, or was, encrypted under a living key. A row with that key and an
 * older revision was put back. It is recorded from the first change on that leaves the key alive.
 */
export type KeyRevision = { readonly keyId: string; readonly revision: number };

/** The name of a record of the directory. */
export type DirectoryName = Pick<DirectoryRecord, 'kind' | 'id'>;

/** The newest revision of a record of the directory. */
export type DirectoryRevision = DirectoryName & Pick<DirectoryRecord, 'revision'>;

/** Returns the name of a record as one text, the key of the map that `directoryRevisions` returns. */
export function directoryName({ kind, id }: DirectoryName): string {
  return `${kind}-${id}`;
}

/**
 * A living key. `sequence` is the order of creation. `logHead` is the head of the log before the key was created, so no
 * event up to that position can name it.
 */
export type MadeKey = { readonly sequence: number; readonly keyId: string; readonly logHead: number };

/**
 * `shredder`: a position in the log. `orphans`: a sequence number of keys. `anchor`: the newest checkpoint that was
 * delivered. `log`: a position that the log once had; a log that ends before it is an older copy. `backup`: when the
 * newest backup began, ms (cluster profile; the embedded profile keeps it in a file).
 */
export type KeyRingReader = 'shredder' | 'orphans' | 'anchor' | 'log' | 'backup';

/** What the key store remembers of a checkpoint: its number, its hash in hex, and the signature over the hash. */
export type RememberedCheckpoint = { readonly number: number; readonly hash: string; readonly signature: string };

/**
 * What the key store remembers of the log, so that the vault rejects a log that was cut or rewritten. `link` is a link
 * that its chain once had. Null if nothing is remembered yet.
 */
export type LogMemory = { readonly checkpoint: RememberedCheckpoint | null; readonly link: ChainLink | null };

/** The state of a data key. */
export type KeyStatus = {
  readonly keyId: string;
  /** Milliseconds since the epoch; null if the key is alive. */
  readonly destroyedAt: number | null;
};

/** What a key store records besides keys. Every write is durable when it resolves. */
export type KeyRecords = {
  /** Records revisions of records of the directory, ignoring older ones. */
  noteDirectory(revisions: readonly DirectoryRevision[]): Promise<void>;
  /** Returns the recorded revisions of these records by `directoryName`, leaving out records without one. */
  directoryRevisions(records: readonly DirectoryName[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Returns at most `limit` living keys after `afterSequence` that were created before `madeBefore` (ms), in order. If
   * several processes create keys, `madeBefore` must be minutes in the past, so that no key is added before a returned
   * sequence number.
   */
  made(afterSequence: number, madeBefore: number, limit: number): Promise<readonly MadeKey[]>;
  /** Returns the state of these keys, leaving out keys without a row. */
  keyStatuses(keyIds: readonly string[]): Promise<readonly KeyStatus[]>;
  /**
   * Returns how far a reader of the log or of the keys has come; 0 at first. It is in the key store, so a restored copy
   * rewinds it.
   */
  checkpoint(name: KeyRingReader): Promise<number>;
  saveCheckpoint(name: KeyRingReader, value: number): Promise<void>;
  logMemory(): Promise<LogMemory>;
  /** Remembers these, unless something newer is already remembered. Null changes nothing. */
  rememberLog(memory: LogMemory): Promise<void>;
  /** Replaces what is remembered, because the log is a different copy. */
  replaceLogMemory(memory: LogMemory): Promise<void>;
};

/** The rows that a rotation reads and writes (ADR 29). */
export type RotationRows = {
  /** Marks all living wrapping keys as retiring, unless a rotation has already begun. Durable when it resolves. */
  begin(): Promise<void>;
  /** Returns the living wrapping keys of all tenants, by number. */
  wrappingKeys(): Maybe<readonly WrappingKey[]>;
  countLivingDataKeys(): Maybe<number>;
  /**
   * Returns living data keys after a sequence number, in order, with the sequence number of the last one. Null if there
   * are none.
   */
  livingDataKeys(
    afterSequence: number,
    limit: number,
  ): Maybe<{ readonly keys: readonly LivingDataKey[]; readonly last: number } | null>;
  /** Replaces the wrapping of each of these keys that is alive and still wrapped by `from`. */
  rewrapDataKeys(keys: readonly RewrappedDataKey[]): Promise<void>;
  /**
   * Stores everything that the root key wraps as `rewrap` returns it, with the check of the next root key, and destroys
   * the retiring keys: all of it or nothing. `keys_left` means that a retiring key still wraps a data key, or that a
   * key was added in the meantime.
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
   * Copies of the keys from before this moment (ms) are void without the root key of that time: it is the beginning of
   * the last rotation that ended. Null if no rotation has ended.
   */
  voidBefore(): Promise<number | null>;
  /** Resolves once none of the store's files contains replaced bytes (MongoDB cannot promise that: ADR 22). */
  settle(): Promise<void>;
};

/**
 * Stores wrapped keys. It never receives an unwrapped key or the root key. Every write is durable when it resolves.
 * `root_replaced` means that nothing was stored, because `rootCheck` is no longer the store's check.
 */
export interface KeyStore {
  /** The name of the store in errors, and in sentences. */
  readonly name: string;
  readonly title: string;
  /**
   * Whether other processes change the keys as well. If so, a cached key must be checked at each use (`noted`), and the
   * keys of a tenant must be read again after a second.
   */
  readonly isShared: boolean;
  /** Returns an error for keys that cannot be used. The text says what to do. */
  broken(problem: string): Error;

  /** Returns the value that identifies the root key. Null if the store is new. */
  rootCheck(): Maybe<Buffer | null>;
  /** Stores the check of a new store. Returns the stored one, which differs if another process got there first. */
  createRootCheck(check: Buffer): Promise<Buffer>;

  /** Returns the keys of a tenant by number, including destroyed ones. */
  readTenantKeys(tenantId: string): Maybe<readonly StoredTenantKey[]>;
  /**
   * Stores these keys. A shared store skips a number that the tenant already has, because another process got there
   * first. A key that is added after the destruction of its tenant counts as destroyed.
   */
  insertTenantKeys(keys: readonly NewTenantKey[], rootCheck: Buffer): Promise<'stored' | 'root_replaced'>;
  /** Destroys all keys of a tenant as `destroyDataKeys` does. */
  destroyTenantKeys(tenantId: string, eventId: string): Promise<number>;

  /** Returns the key of a generation; null if it has none, or if it was destroyed. */
  generationKey(generation: number): Maybe<Buffer | null>;
  /** Returns the generations that have a key, in order. */
  generations(): Maybe<readonly number[]>;
  /** Returns the highest generation that ever had a key; 0 if there is none. */
  newestGeneration(): Maybe<number>;
  /** `taken` means that another process got there first. Only a shared store returns it. */
  insertGenerationKey(
    generation: number,
    wrapped: Buffer,
    rootCheck: Buffer,
  ): Promise<'stored' | 'taken' | 'root_replaced'>;
  /** Destroys the key of a generation as `destroyDataKeys` does. A repeat does no harm. */
  destroyGenerationKey(generation: number): Promise<void>;

  /** Returns a data key, or null if it never existed. */
  dataKey(keyId: string): Maybe<StoredDataKey | null>;
  /** Returns the same without the wrapped key, for a key that is cached. Null if it never existed or was destroyed. */
  noted(keyId: string): Maybe<Pick<StoredDataKey, 'revision'> | null>;
  /**
   * Returns how many keys a tenant key has wrapped, including `more` that it is about to wrap. These are counted
   * durably by the time `insertDataKeys` or `rewrapDataKeys` has stored them.
   */
  countWraps(tenantKeyId: string, more: number): Maybe<number>;
  /**
   * `retiring` means that none of them can be used, because the tenant key was destroyed or a rotation replaces it. A
   * store may accept keys under a retiring key; `replaceRoot` then returns `keys_left`.
   */
  insertDataKeys(tenantKeyId: string, keys: readonly NewDataKey[]): Promise<'stored' | 'retiring'>;
  /**
   * Destroys keys and records `advanced`. When it resolves, no reader of the store finds the keys, and with SQLite the
   * wrapped bytes are in none of its files (ADR 22 says what MongoDB keeps for a while). Waits a few seconds for that,
   * then throws StoreUnavailable; a repeat continues. Returns how many keys this call destroyed.
   */
  destroyDataKeys(ended: readonly EndedKey[], advanced: readonly KeyRevision[]): Promise<number>;
  /** Records revisions of living keys in one write, ignoring older ones. */
  advance(advanced: readonly KeyRevision[]): Promise<void>;
  /** Forgets all recorded revisions of keys and of the directory. */
  forgetRevisions(): Promise<void>;
  /** Adds `count` to the sealed traces of a tenant. Returns the previous number. */
  reserveTraces(tenantId: string, count: number): Promise<number>;

  readonly rotation: RotationRows;
  readonly records: KeyRecords;
}
