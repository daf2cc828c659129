import type { DirectoryRecord } from '../views/directory-view.js';
import type { ChainLink } from './event-chain.js';
import type { KeyRotation } from './key-rotation.js';

/** An unwrapped data key: 32 bytes for AES-256-GCM, in a buffer of its own. */
export type DataKey = { readonly id: string; readonly key: Buffer };

/** The key that hashes the search terms of a tenant in one generation of token rows. */
export type SearchKey = { readonly generation: number; readonly key: Buffer };

/** Subkeys that HKDF derives from a tenant's identity key, 32 bytes each. They never rotate. */
export type TenantKeys = {
  /** For the names of streams. */
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
  /** `revision`: the last one that was noted for the key (`KeyRevision`); null: none yet. */
  | { readonly state: 'open'; readonly value: T; readonly revision: number | null }
  | { readonly state: 'destroyed' }
  /** The key has no row although it must have one: it is lost, which is not the same as erased. */
  | { readonly state: 'missing' };

/** The event id of a destroyed key that no event ever named. */
export const noEvent = '00000000-0000-0000-0000-000000000000';

/**
 * How long after its command began an event may name a new key, ms. A key that no event names is destroyed after an
 * hour, so a process that was suspended must not name it then.
 */
export const keyNamedWithinMs = 600_000;

/** A key and the event that ended it: erasure needs both. */
export type EndedKey = { readonly keyId: string; readonly eventId: string };

/**
 * The newest revision of a token whose content is, or was, encrypted under a living key. A row that names the key and
 * has an older revision was put back. It is noted from the first change on that leaves the key alive.
 */
export type KeyRevision = { readonly keyId: string; readonly revision: number };

/** The name of a record of the directory. */
export type DirectoryName = Pick<DirectoryRecord, 'kind' | 'id'>;

/** The newest revision of a record of the directory. */
export type DirectoryRevision = DirectoryName & Pick<DirectoryRecord, 'revision'>;

/** Returns the name of a record as one text, the key of the map that `KeyRing.directoryRevisions` returns. */
export function directoryName({ kind, id }: DirectoryName): string {
  return `${kind}-${id}`;
}

/**
 * A living key. `sequence` is the order of creation. `logHead` is the head of the log before the key was created, so no
 * event up to there can name it.
 */
export type MadeKey = { readonly sequence: number; readonly keyId: string; readonly logHead: number };

/**
 * `shredder`: a position in the log. `orphans`: a sequence of keys. `anchor`: the newest checkpoint that was delivered.
 * `log`: a position that the log once had; a log that ends before it is an older copy. `backup`: when the newest backup
 * began, ms (cluster profile; the embedded profile keeps it in a file).
 */
export type KeyRingReader = 'shredder' | 'orphans' | 'anchor' | 'log' | 'backup';

/** What the key store remembers of a checkpoint: its number, its hash in hex, and the signature over that. */
export type RememberedCheckpoint = { readonly number: number; readonly hash: string; readonly signature: string };

/**
 * What the key store remembers of the log, so that the vault rejects a log that was cut or rewritten. `link`: a link
 * that its chain once had. Null: nothing is remembered yet.
 */
export type LogMemory = { readonly checkpoint: RememberedCheckpoint | null; readonly link: ChainLink | null };

/** The state of a data key. */
export type KeyStatus = {
  readonly keyId: string;
  /** Milliseconds since the epoch; null: the key is alive. */
  readonly destroyedAt: number | null;
};

/** Signs checkpoints with Ed25519 (RFC 8032). The private key never leaves this object. */
export type SigningKey = {
  /** As PEM (SPKI). */
  readonly publicKey: string;
  sign(bytes: Uint8Array): Buffer;
};

/**
 * Keys for the vault's message authentication codes (HMAC-SHA-256), 32 bytes each, one for each purpose. An attacker
 * that can write to a store but has no root key cannot compute a MAC. They never rotate.
 */
export type IntegrityKeys = {
  /** The events of each append. */
  readonly commits: Buffer;
  /** The rows of tokens, tenants and applications. */
  readonly rows: Buffer;
  /** The manifest of a backup. */
  readonly backups: Buffer;
  /** Seals the cursors of version 2 of the list and the search. */
  readonly cursors: Buffer;
};

/** Data keys. Each is wrapped under its tenant's key, which is wrapped under the root key. */
export interface KeyRing {
  /** Creates a tenant's keys; they are durable when it resolves. */
  createTenant(tenantId: string): Promise<void>;
  /** Returns a tenant's keys; null if it has none, or they were destroyed. */
  tenantKeys(tenantId: string): Promise<TenantKeys | null>;
  /**
   * Returns the key of the tenant's search terms in a generation of token rows, 32 bytes. Each generation has its own,
   * so a rebuild ends all older terms. Returns null for an unknown tenant, and for a generation without a key.
   */
  searchKey(tenantId: string, generation: number): Promise<Buffer | null>;
  /**
   * Creates the key of a new generation and returns its number, which was never used before; durable when it
   * resolves.
   */
  createGeneration(): Promise<number>;
  /** Returns the generations that have a key. */
  generations(): Promise<readonly number[]>;
  /** Destroys the key of a generation as `destroy` does data keys, with the same errors. A repeat does no harm. */
  destroyGeneration(generation: number): Promise<void>;
  /**
   * Destroys all keys of a tenant, and so everything that is encrypted under them, as `destroy` does data keys, with
   * the same errors and the same result.
   */
  destroyTenant(tenantId: string, eventId: string): Promise<number>;
  /**
   * Returns a new data key, which is already durable. The caller zeroes the buffer. Throws StoreUnavailable if the
   * tenant's keys were destroyed.
   */
  create(tenantId: string): Promise<DataKey>;
  /** Runs `use` with the opened key. `use` must not keep the buffer: it may be zeroed right after. */
  use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>>;
  /**
   * Destroys keys. When it resolves, no reader of the store finds them, and with SQLite the wrapped bytes are in none
   * of its files (ADR 22 says what MongoDB keeps for a while). It waits some seconds for that, then throws
   * StoreUnavailable; a repeat continues. Returns how many keys this call destroyed: 0 means that all of them were
   * destroyed before. Notes `advanced` in the same write, like `advance`.
   */
  destroy(ended: readonly EndedKey[], advanced?: readonly KeyRevision[]): Promise<number>;
  /** Notes revisions of living keys in one write, ignoring older ones. Durable when it resolves. */
  advance(advanced: readonly KeyRevision[]): Promise<void>;
  /** Notes revisions of records of the directory, ignoring older ones. Durable when it resolves. */
  noteDirectory(revisions: readonly DirectoryRevision[]): Promise<void>;
  /** Returns the noted revisions of these records by `directoryName`; a record without one is left out. */
  directoryRevisions(records: readonly DirectoryName[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Forgets all noted revisions of keys and of the directory. Call it when an older log is accepted in place of a newer
   * one: the shredder then notes what that log says.
   */
  forgetRevisions(): Promise<void>;
  /**
   * Returns at most `limit` living keys after `afterSequence` that were created before `madeBefore` (ms), in order. If
   * several processes create keys, `madeBefore` must be minutes in the past, so that no key is added before a returned
   * sequence.
   */
  made(afterSequence: number, madeBefore: number, limit: number): Promise<readonly MadeKey[]>;
  /** Returns the state of these keys; a key without a row is left out. */
  keyStatuses(keyIds: readonly string[]): Promise<readonly KeyStatus[]>;
  /**
   * Returns the key that signs checkpoints: one for the whole vault, created by the first call and durable before it
   * returns.
   */
  signingKey(): Promise<SigningKey>;
  /** Returns the keys that authenticate what the stores hold, created by the first call like the signing key. */
  integrityKeys(): Promise<IntegrityKeys>;
  /**
   * Returns how far a reader of the log or of the keys has come; 0 at first. In the key store, so a restored copy
   * rewinds it.
   */
  checkpoint(name: KeyRingReader): Promise<number>;
  saveCheckpoint(name: KeyRingReader, value: number): Promise<void>;
  logMemory(): Promise<LogMemory>;
  /** Remembers these, unless something newer is remembered already; null changes nothing. Durable when it resolves. */
  rememberLog(memory: LogMemory): Promise<void>;
  /** Replaces what is remembered: the log is another copy. */
  replaceLogMemory(memory: LogMemory): Promise<void>;
  readonly rotation: KeyRotation;
}
