import type { EndedKey, KeyRecords, KeyRevision } from '../ports/key-store.js';
import type { Maybe } from '../ports/maybe.js';

/** An unwrapped data key: 32 bytes for AES-256-GCM, in memory that contains only keys. */
export type DataKey = { readonly id: string; readonly key: Buffer };

/** The key for the hashes of a tenant's search terms in one generation of token rows. */
export type SearchTermKey = { readonly generation: number; readonly key: Buffer };

/** Subkeys of 32 bytes each, derived from a tenant's identity key with HKDF. Subkeys never change. */
export type TenantKeys = {
  /** The key for stream names. It is also the salt of search-term keys. */
  readonly names: Buffer;
  /** The key for fingerprints. It must not change, because callers store fingerprints. */
  readonly fingerprints: Buffer;
  /**
   * The key for the hashes of idempotency keys and fingerprints, and for the ids that a retry of a command must choose
   * again.
   */
  readonly claims: Buffer;
  /**
   * The trace keys of all epochs are derived from this key. Trace keys encrypt the trace ids in events and in the
   * access log.
   */
  readonly audit: Buffer;
  /** Counts a trace that is about to be encrypted. Returns the epoch whose trace key must encrypt the trace. */
  readonly traceEpoch: () => number;
  /** The key for tenant and application documents. */
  readonly directory: Buffer;
};

export type KeyUse<T> =
  /**
   * `revision` is the newest revision that was recorded for the key (`KeyRevision`). It is null if no revision was
   * recorded.
   */
  | { readonly state: 'open'; readonly value: T; readonly revision: number | null }
  | { readonly state: 'destroyed' }
  /** The key has no row or cannot be unwrapped. Such a key is lost, and does not count as erased. */
  | { readonly state: 'missing' };

/** Signs checkpoints with Ed25519 (RFC 8032). The private key never leaves this object. */
export type SigningKey = {
  /** The public key in PEM format (SPKI). */
  readonly publicKey: string;
  sign(bytes: Uint8Array): Buffer;
};

/**
 * The vault's 32-byte keys for message authentication codes (HMAC-SHA-256), cursors, and console sessions
 * (AES-256-GCM). Each purpose has its own key. These keys never change. An attacker who can write to a store but does
 * not have the root key cannot compute a MAC.
 */
export type IntegrityKeys = {
  /** The key for the MACs of commits. */
  readonly commits: Buffer;
  /** The key for the MACs of token, tenant and application rows. */
  readonly rows: Buffer;
  /** The key for the MACs of backup manifests. */
  readonly backups: Buffer;
  /** The key for the cursors of lists and searches (`/v2/tokens`). */
  readonly cursors: Buffer;
  /** The key for console sessions (AES-256-GCM). The keys for console forms are derived from this key. */
  readonly console: Buffer;
};

/**
 * Replaces the wrapping keys of all tenants, and the root key that wraps them (ADR 29). Call `begin`, then `rewrap`
 * until it returns null, then `replaceRoot`. After a crash, make these calls again in the same order, and the rotation
 * continues where it stopped. Other callers can create, use and destroy keys during a rotation.
 */
export type KeyRotation = {
  /** Returns true if the store's keys are currently wrapped under this root key. */
  isUnder(rootKey: Buffer): Promise<boolean>;
  /** Returns the check value of the store's current root key. */
  rootCheck(): Promise<Buffer | null>;
  /**
   * Creates new wrapping keys, and returns the number of data keys that have not been destroyed. Once the promise
   * resolves, all new data keys are wrapped under the new wrapping keys. `from` is the check value that `rootCheck`
   * returned when the rotation began. If another process has replaced that root key, the rotation is not recorded as
   * begun, and `replaceRoot` fails.
   */
  begin(from: Buffer | null): Promise<number>;
  /**
   * Rewraps the next few hundred living data keys after this sequence number. Pass 0 to start at the first key. A key
   * that is destroyed during this step stays destroyed. Returns null if no keys are left. Throws RotationRefused if a
   * key cannot be unwrapped.
   */
  rewrap(afterSequence: number): Promise<RewrapStep | null>;
  /**
   * In one atomic step, unwraps all keys that are wrapped under the current root key, wraps them under `next`, and
   * destroys the old wrapping keys. Returns false if data keys are still wrapped under old wrapping keys. In that case,
   * the caller calls `begin` again. `from` is the check value that `rootCheck` returned when the rotation began. Throws
   * RotationRefused if another process has replaced that root key with one other than `next`.
   */
  replaceRoot(next: Buffer, from: Buffer | null): Promise<boolean>;
  /**
   * Returns the time (in ms) at which the last completed rotation began. Returns null if no rotation has completed. If
   * a copy of the key store is older than that, its keys are useless without the root key that was in use when the copy
   * was made.
   */
  voidBefore(): Promise<number | null>;
  /** Resolves when no file of the store contains keys that were replaced. MongoDB cannot guarantee this (ADR 22). */
  settle(): Promise<void>;
};

/**
 * `sequence` is the sequence number of the last key that the step read. `looked` is the number of keys that the step
 * read.
 */
type RewrapStep = { readonly sequence: number; readonly looked: number };

/**
 * A damaged key that is wrapped under the root key, as `name` describes it: the search key of a generation, or a key of
 * a tenant or of the vault (`vaultKeyTenant`).
 */
export type DamagedKey = { readonly name: string } & (
  | { readonly kind: 'search'; readonly generation: number }
  | { readonly kind: 'tenant'; readonly tenantId: string }
);

/**
 * The keys of a page that do not open, although they were not destroyed. `last` is the sequence number of the last key
 * of the page. The bytes of a `damaged` key are wrong, or its wrapping key was removed, which the vault never does. The
 * wrapping key of an `unwrappable` key was destroyed with its tenant. A key whose wrapping key is damaged is in neither
 * list: `underRoot` describes that wrapping key.
 */
export type CheckedDataKeys = {
  readonly damaged: readonly string[];
  readonly unwrappable: readonly string[];
  readonly last: number;
};

/**
 * Finds keys that were damaged in the store. Opens all keys anew. A key that this process has in memory still works
 * after its stored copy was damaged.
 */
export type KeyCheck = {
  /** Returns the damaged search keys of all generations, even of generations that are not in use. */
  searchKeys(): Promise<readonly DamagedKey[]>;
  /**
   * Returns the damaged keys among those that are wrapped under the root key, including the search keys. A missing
   * identity key of one of these tenants counts as damaged.
   */
  underRoot(tenants: readonly string[]): Promise<readonly DamagedKey[]>;
  /**
   * Opens the next few hundred data keys after this sequence number. Pass 0 to start at the first key. Returns null if
   * no keys are left.
   */
  dataKeys(afterSequence: number): Promise<CheckedDataKeys | null>;
  /**
   * Returns true if a tenant's identity key was destroyed, as it is when the tenant is deleted (`identityKeyOf`). A key
   * that is missing or damaged was not destroyed.
   */
  isTenantDestroyed(tenantId: string): Promise<boolean>;
  /** Opens one data key, and returns its state. */
  stateOf(tenantId: string, keyId: string): Promise<KeyUse<unknown>['state']>;
};

/**
 * All keys of the vault. Each data key is wrapped under a wrapping key of its tenant. Tenant keys, generation keys and
 * the vault's keys are wrapped under the root key (docs/design.md, "Keys").
 */
export interface KeyRing extends KeyRecords {
  /** Creates a tenant's keys. They are durable once the promise resolves. */
  createTenant(tenantId: string): Promise<void>;
  /** Returns a tenant's keys. Returns null if the tenant has no keys, or if its keys were destroyed. */
  tenantKeys(tenantId: string): Maybe<TenantKeys | null>;
  /**
   * Returns the tenant's 32-byte search-term key for one generation of token rows. Each generation has a different key,
   * so a rebuild makes all older terms useless. Returns null if the tenant is unknown or if the generation has no key.
   */
  searchTermKey(tenantId: string, generation: number): Maybe<Buffer | null>;
  /**
   * Creates the key of a new generation, and returns the number of the generation. The number has never been used
   * before. The key is durable once the promise resolves.
   */
  createGeneration(): Promise<number>;
  /** Returns the numbers of the generations that have a key. */
  generations(): Promise<readonly number[]>;
  /** Destroys a generation key, with the same guarantees and errors as `destroy`. This operation is idempotent. */
  destroyGeneration(generation: number): Promise<void>;
  /**
   * Destroys all keys of a tenant. After that, nothing that is encrypted under these keys can be decrypted. The
   * guarantees, errors and result are those of `destroy`.
   */
  destroyTenant(tenantId: string, eventId: string): Promise<number>;
  /**
   * Returns a new data key that is stored durably. The caller must zero the buffer. Throws StoreUnavailable if the
   * tenant's keys were destroyed.
   */
  create(tenantId: string): Promise<DataKey>;
  /**
   * Unwraps a key and calls `use` with it. If no store has to be read, the call is synchronous. `use` must not keep a
   * reference to the buffer, because the buffer may be zeroed when `use` returns.
   */
  use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Maybe<KeyUse<T>>;
  /**
   * Destroys keys in the same way as `KeyStore.destroyDataKeys`, and records the revisions in `advanced` in the same
   * write. Returns the number of keys that this call destroyed. If all of the keys were already destroyed, returns 0.
   */
  destroy(ended: readonly EndedKey[], advanced?: readonly KeyRevision[]): Promise<number>;
  /**
   * Records revisions of living keys in one durable write. Ignores revisions that are older than the recorded
   * revisions.
   */
  advance(advanced: readonly KeyRevision[]): Promise<void>;
  /**
   * Forgets all recorded revisions of keys and of the directory. Call this when an older log is accepted in place of a
   * newer one. After that, the shredder records the revisions of the older log.
   */
  forgetRevisions(): Promise<void>;
  /**
   * Returns the key that signs checkpoints. A vault has only one such key. The first call creates the key. The key is
   * durable once the promise resolves.
   */
  signingKey(): Promise<SigningKey>;
  /** Returns the vault's integrity keys. The first call creates them. */
  integrityKeys(): Promise<IntegrityKeys>;
  readonly rotation: KeyRotation;
  /**
   * Returns false if another process has replaced the root key and this process cannot read the new root key yet.
   * Switches to the new root key if this process can read it.
   */
  hasRootKey(): Promise<boolean>;
  readonly check: KeyCheck;
}
