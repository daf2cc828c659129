import type { EndedKey, KeyRecords, KeyRevision } from '../ports/key-store.js';
import type { Maybe } from '../ports/maybe.js';

/** An unwrapped data key: 32 bytes for AES-256-GCM, in its own buffer. */
export type DataKey = { readonly id: string; readonly key: Buffer };

/** The key that hashes a tenant's search terms in one generation of token rows. */
export type SearchKey = { readonly generation: number; readonly key: Buffer };

/** Subkeys that HKDF derives from a tenant's identity key, 32 bytes each. They never rotate. */
export type TenantKeys = {
  /** For stream names, and as the salt of search keys. */
  readonly names: Buffer;
  /** For fingerprints, which callers store. */
  readonly fingerprints: Buffer;
  /** For idempotency and deduplication claims. */
  readonly claims: Buffer;
  /** For trace ids in events and in the access log. The key for each epoch is derived from it. */
  readonly audit: Buffer;
  /** Counts one trace that is about to be encrypted, and returns the epoch whose key must encrypt it. */
  readonly traceEpoch: () => number;
  /** For tenant and application documents. */
  readonly directory: Buffer;
};

export type KeyUse<T> =
  /** `revision` is the newest revision that was recorded for the key (`KeyRevision`), or null if there is none yet. */
  | { readonly state: 'open'; readonly value: T; readonly revision: number | null }
  | { readonly state: 'destroyed' }
  /** The key has no row, or cannot be unwrapped. It is lost, which is not the same as erased. */
  | { readonly state: 'missing' };

/** Signs checkpoints with Ed25519 (RFC 8032). The private key never leaves this object. */
export type SigningKey = {
  /** In PEM format (SPKI). */
  readonly publicKey: string;
  sign(bytes: Uint8Array): Buffer;
};

/**
 * The vault's own 32-byte keys, one for each purpose: message authentication codes (HMAC-SHA-256), cursors, and console
 * sessions (AES-256-GCM). They never rotate. An attacker that can write to a store but does not have the root key
 * cannot compute a MAC.
 */
export type IntegrityKeys = {
  /** For the events of each append. */
  readonly commits: Buffer;
  /** For token, tenant and application rows. */
  readonly rows: Buffer;
  /** For backup manifests. */
  readonly backups: Buffer;
  /** For version 2 list and search cursors. */
  readonly cursors: Buffer;
  /** For console sessions (AES-256-GCM). The keys for console forms are derived from it. */
  readonly console: Buffer;
};

/**
 * Replaces the wrapping keys of all tenants, and the root key that wraps them (ADR 29). Call `begin`, then `rewrap`
 * until it returns null, then `replaceRoot`. After a crash, call them all again in this order. The rotation then
 * continues where it stopped. Other callers can create, open and destroy keys in the meantime.
 */
export type KeyRotation = {
  /** Returns whether the store's keys are currently wrapped under this root key. */
  isUnder(rootKey: Buffer): Promise<boolean>;
  /**
   * Creates new wrapping keys, and returns the number of living data keys. After the promise resolves, the new wrapping
   * keys wrap all new data keys.
   */
  begin(): Promise<number>;
  /**
   * Rewraps the next few hundred living data keys after this sequence number (0 to start at the first key). A key that
   * is destroyed in the meantime stays destroyed. Returns null if no keys are left. Throws RotationRefused if a key
   * does not open.
   */
  rewrap(afterSequence: number): Promise<RewrapStep | null>;
  /**
   * Atomically rewraps under `next` everything that the root key wraps, and destroys the old wrapping keys. Returns
   * false if old wrapping keys have wrapped more data keys in the meantime. The caller then calls `begin` again.
   */
  replaceRoot(next: Buffer): Promise<boolean>;
  /**
   * Returns the time (ms) at which the last completed rotation began, or null if none has completed. Copies of the keys
   * from before that time are useless without the root key that was used then.
   */
  voidBefore(): Promise<number | null>;
  /**
   * Resolves once none of the store's files contain keys that have been replaced. MongoDB cannot guarantee this (ADR
   * 22).
   */
  settle(): Promise<void>;
};

/** `sequence` is the sequence number of the step's last key. `looked` is the number of keys in the step. */
export type RewrapStep = { readonly sequence: number; readonly looked: number };

/**
 * All keys of the vault. Data keys are wrapped under their tenant's wrapping key. Tenant keys, generation keys and the
 * vault's own keys are wrapped under the root key (docs/design.md, "Keys").
 */
export interface KeyRing extends KeyRecords {
  /** Creates a tenant's keys, which are durable when the promise resolves. */
  createTenant(tenantId: string): Promise<void>;
  /** Returns a tenant's keys, or null if the tenant has no keys or its keys were destroyed. */
  tenantKeys(tenantId: string): Maybe<TenantKeys | null>;
  /**
   * Returns the tenant's 32-byte search-term key for one generation of token rows. Each generation has its own key, so
   * a rebuild makes all older terms useless. Returns null for an unknown tenant or a generation without a key.
   */
  searchKey(tenantId: string, generation: number): Maybe<Buffer | null>;
  /**
   * Creates the key of a new generation and returns the generation's number, which was never used before. The key is
   * durable when the promise resolves.
   */
  createGeneration(): Promise<number>;
  /** Returns the generations that have a key. */
  generations(): Promise<readonly number[]>;
  /** Destroys a generation key, with the same guarantees and errors as `destroy`. Idempotent. */
  destroyGeneration(generation: number): Promise<void>;
  /**
   * Destroys all keys of a tenant, so that nothing that is encrypted under them can be decrypted again. The guarantees,
   * errors and result are those of `destroy`.
   */
  destroyTenant(tenantId: string, eventId: string): Promise<number>;
  /**
   * Returns a new data key, which is already durable. The caller must zero the buffer. Throws StoreUnavailable if the
   * tenant's keys were destroyed.
   */
  create(tenantId: string): Promise<DataKey>;
  /**
   * Runs `use` with the opened key, synchronously if no store has to be read. `use` must not keep the buffer, because
   * the buffer may be zeroed as soon as `use` returns.
   */
  use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Maybe<KeyUse<T>>;
  /**
   * Destroys keys as `KeyStore.destroyDataKeys` does, and records the revisions in `advanced` in the same write.
   * Returns the number of keys that this call destroyed. 0 means that all of them had already been destroyed.
   */
  destroy(ended: readonly EndedKey[], advanced?: readonly KeyRevision[]): Promise<number>;
  /** Records revisions of living keys in one durable write. Ignores revisions that are older than the recorded ones. */
  advance(advanced: readonly KeyRevision[]): Promise<void>;
  /**
   * Forgets all recorded revisions of keys and of the directory. Call this when an older log is accepted in place of a
   * newer one. The shredder then records the revisions from that log.
   */
  forgetRevisions(): Promise<void>;
  /**
   * Returns the vault's only key for signing checkpoints. The first call creates the key, which is durable before the
   * promise resolves.
   */
  signingKey(): Promise<SigningKey>;
  /** Returns the vault's integrity keys. Like the signing key, they are created by the first call. */
  integrityKeys(): Promise<IntegrityKeys>;
  readonly rotation: KeyRotation;
}
