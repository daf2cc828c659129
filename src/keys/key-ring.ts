import type { EndedKey, KeyRecords, KeyRevision } from '../ports/key-store.js';
import type { Maybe } from '../ports/maybe.js';

/** An unwrapped data key: 32 bytes for AES-256-GCM, in a buffer of its own. */
export type DataKey = { readonly id: string; readonly key: Buffer };

/** The key that hashes the search terms of a tenant in one generation of token rows. */
export type SearchKey = { readonly generation: number; readonly key: Buffer };

/** Subkeys that HKDF derives from a tenant's identity key, 32 bytes each. They never rotate. */
export type TenantKeys = {
  /** For the names of streams, and the salt of search keys. */
  readonly names: Buffer;
  /** For fingerprints, which callers store. */
  readonly fingerprints: Buffer;
  /** For claims of idempotency and deduplication. */
  readonly claims: Buffer;
  /** For trace ids in events and in the access log; each epoch derives a key from it. */
  readonly audit: Buffer;
  /** Counts one trace id that is about to be encrypted, and returns the epoch of its key. */
  readonly traceEpoch: () => number;
  /** For the documents of tenants and applications. */
  readonly directory: Buffer;
};

export type KeyUse<T> =
  /** `revision`: the last one that was recorded for the key (`KeyRevision`); null if there is none yet. */
  | { readonly state: 'open'; readonly value: T; readonly revision: number | null }
  | { readonly state: 'destroyed' }
  /** The key has no row although it must have one: it is lost, which is not the same as erased. */
  | { readonly state: 'missing' };

/** Signs checkpoints with Ed25519 (RFC 8032). The private key never leaves this object. */
export type SigningKey = {
  /** As PEM (SPKI). */
  readonly publicKey: string;
  sign(bytes: Uint8Array): Buffer;
};

/**
 * Keys for the vault's message authentication codes (HMAC-SHA-256), cursors and sessions (AES-256-GCM), 32 bytes each, one for each
 * purpose. An attacker that can write to a store but has no root key cannot compute a MAC. They never rotate.
 */
export type IntegrityKeys = {
  /** For the events of each append. */
  readonly commits: Buffer;
  /** For the rows of tokens, tenants and applications. */
  readonly rows: Buffer;
  /** The manifest of a backup. */
  readonly backups: Buffer;
  /** For the cursors of version 2 of lists and searches. */
  readonly cursors: Buffer;
  /** For the sessions of the console (AES-256-GCM), and the keys that are derived for its forms. */
  readonly console: Buffer;
};

/**
 * Replaces all keys that wrap data keys: the wrapping keys of every tenant, and the root key above them (ADR 29). Call
 * `begin`, then `rewrap` until it returns null, then `replaceRoot`. After a crash, call all of them again; the rotation
 * continues where it stopped. Other callers can create, open and destroy keys in the meantime.
 */
export type KeyRotation = {
  /** Whether the store is under this root key now. */
  isUnder(rootKey: Buffer): Promise<boolean>;
  /**
   * When it resolves, new data keys are wrapped by new keys of their tenants. Returns the number of living data keys.
   */
  begin(): Promise<number>;
  /**
   * Rewraps a few hundred living data keys after this sequence number (0: from the first). A key that is destroyed
   * meanwhile stays destroyed. Returns null if there is no key after it. Throws RotationRefused if a key does not open.
   */
  rewrap(afterSequence: number): Promise<RewrapStep | null>;
  /**
   * Rewraps everything that the root key wraps under `next`, and destroys the old keys of tenants: all of it or
   * nothing. Returns false if data keys were wrapped by old keys in the meantime; then begin again.
   */
  replaceRoot(next: Buffer): Promise<boolean>;
  /**
   * Copies of the keys from before this moment (ms) are void without the root key of that time: it is the beginning of
   * the last rotation that ended. Null if no rotation has ended.
   */
  voidBefore(): Promise<number | null>;
  /** Resolves once none of the store's files contains replaced bytes (MongoDB cannot promise that: ADR 22). */
  settle(): Promise<void>;
};

/** `sequence`: the sequence number of the last key of the step. `looked`: the number of keys in it. */
export type RewrapStep = { readonly sequence: number; readonly looked: number };

/**
 * All keys of the vault: data keys, which are wrapped under their tenant's key; and the keys of tenants, of generations
 * and of the vault itself, which are wrapped under the root key (docs/design.md, "Keys").
 */
export interface KeyRing extends KeyRecords {
  /** Creates a tenant's keys; they are durable when it resolves. */
  createTenant(tenantId: string): Promise<void>;
  /** Returns a tenant's keys; null if it has none, or they were destroyed. */
  tenantKeys(tenantId: string): Maybe<TenantKeys | null>;
  /**
   * Returns the key of the tenant's search terms in a generation of token rows, 32 bytes. Each generation has its own
   * key, so a rebuild makes all older terms useless. Returns null for an unknown tenant, and for a generation without a
   * key.
   */
  searchKey(tenantId: string, generation: number): Maybe<Buffer | null>;
  /**
   * Creates the key of a new generation and returns the generation's number, which was never used before. Durable when
   * it resolves.
   */
  createGeneration(): Promise<number>;
  /** Returns the generations that have a key. */
  generations(): Promise<readonly number[]>;
  /** Destroys the key of a generation as `destroy` destroys data keys, with the same errors. A repeat does no harm. */
  destroyGeneration(generation: number): Promise<void>;
  /**
   * Destroys all keys of a tenant, and with them everything that is encrypted under them, as `destroy` destroys data
   * keys, with the same errors and the same result.
   */
  destroyTenant(tenantId: string, eventId: string): Promise<number>;
  /**
   * Returns a new data key, which is already durable. The caller zeroes the buffer. Throws StoreUnavailable if the
   * tenant's keys were destroyed.
   */
  create(tenantId: string): Promise<DataKey>;
  /**
   * Runs `use` with the opened key, immediately if no store has to be asked. `use` must not keep the buffer: it may be
   * zeroed right after.
   */
  use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Maybe<KeyUse<T>>;
  /**
   * Destroys keys as `KeyStore.destroyDataKeys` does, and records `advanced` with it. Returns how many keys this call
   * destroyed; 0 means that all of them were destroyed before.
   */
  destroy(ended: readonly EndedKey[], advanced?: readonly KeyRevision[]): Promise<number>;
  /** Records revisions of living keys in one write, ignoring older ones. Durable when it resolves. */
  advance(advanced: readonly KeyRevision[]): Promise<void>;
  /**
   * Forgets all recorded revisions of keys and of the directory. Call it when an older log is accepted in place of a
   * newer one: the shredder then records what that log says.
   */
  forgetRevisions(): Promise<void>;
  /**
   * Returns the key that signs checkpoints: one for the whole vault, created by the first call and durable before it
   * returns.
   */
  signingKey(): Promise<SigningKey>;
  /** Returns the keys that authenticate what the stores hold, created by the first call like the signing key. */
  integrityKeys(): Promise<IntegrityKeys>;
  readonly rotation: KeyRotation;
}
