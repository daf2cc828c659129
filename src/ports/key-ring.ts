import type { DirectoryRecord } from '../views/directory-view.js';
import type { ChainLink } from './event-chain.js';
import type { KeyRotation } from './key-rotation.js';

/** A data key in the open: 32 bytes for AES-256-GCM, in a buffer of its own. */
export type DataKey = { readonly id: string; readonly key: Buffer };

/** What the search terms of a tenant are hashed with in one generation of token rows. */
export type SearchKey = { readonly generation: number; readonly key: Buffer };

/** Subkeys of a tenant by HKDF; they never rotate. 32 bytes each. */
export type TenantKeys = {
  /** Names of streams. */
  readonly names: Buffer;
  /** Fingerprints that callers store. */
  readonly fingerprints: Buffer;
  /** Idempotency and deduplication claims. */
  readonly claims: Buffer;
  /** Trace ids in events and in the access log; a key of each epoch derives from it. */
  readonly audit: Buffer;
  /** Counts one trace that is about to be sealed, and returns the epoch of its key. */
  readonly traceEpoch: () => number;
  /** Tenant and application documents. */
  readonly directory: Buffer;
};

export type KeyUse<T> =
  /** `revision`: what was last noted of the key (`KeyRevision`); null: nothing yet. */
  | { readonly state: 'open'; readonly value: T; readonly revision: number | null }
  | { readonly state: 'destroyed' }
  /** No row where one must be: the key is lost, which is not the same as erased. */
  | { readonly state: 'missing' };

/** What ended a key that no event ever named. */
export const noEvent = '00000000-0000-0000-0000-000000000000';

/**
 * How long after its command began an event may name a new key, ms. One that no event names is destroyed after an hour: a
 * process that was stopped must not name it then.
 */
export const keyNamedWithinMs = 600_000;

/** A key and the event that ended it: both together are erasure. */
export type EndedKey = { readonly keyId: string; readonly eventId: string };

/**
 * The newest revision of a token whose content lies under a key, or did while the key lives on. A row of the token that
 * names the key and has an older revision was put back. Noted from the first change on that leaves the key alive.
 */
export type KeyRevision = { readonly keyId: string; readonly revision: number };

/** Which record of the directory. */
export type DirectoryName = Pick<DirectoryRecord, 'kind' | 'id'>;

/** The newest revision of a record of the directory. */
export type DirectoryRevision = DirectoryName & Pick<DirectoryRecord, 'revision'>;

/** The name of a record as one text, which `KeyRing.directoryRevisions` answers by. */
export function directoryName({ kind, id }: DirectoryName): string {
  return `${kind}-${id}`;
}

/**
 * A living key. `sequence` is the order of making; `logHead` is the head of the log before the key was made, so no
 * event up to there can name it.
 */
export type MadeKey = { readonly sequence: number; readonly keyId: string; readonly logHead: number };

/**
 * `shredder`: a position in the log. `orphans`: a sequence of keys. `anchor`: the newest checkpoint that was handed over.
 * `log`: a position that the log once had, by which a log that ends before it is seen to be an older copy. `backup`: when
 * the newest backup was begun, ms (cluster profile; the embedded one keeps it in a file).
 */
export type KeyRingReader = 'shredder' | 'orphans' | 'anchor' | 'log' | 'backup';

/** What the key store remembers of a checkpoint: its number, its hash in hex, and the signature over that. */
export type RememberedCheckpoint = { readonly number: number; readonly hash: string; readonly signature: string };

/**
 * What the key store remembers of the log, so that one that was cut or written anew is refused. `link`: a link that its
 * chain once had. Null: nothing is remembered yet.
 */
export type LogMemory = { readonly checkpoint: RememberedCheckpoint | null; readonly link: ChainLink | null };

/** What became of a data key. */
export type KeyFate = {
  readonly keyId: string;
  /** Milliseconds since the epoch; null: it lives. */
  readonly destroyedAt: number | null;
};

/** Signs with Ed25519 (RFC 8032) what proves the log to others. The private key never leaves it. */
export type SigningKey = {
  /** As PEM (SPKI). */
  readonly publicKey: string;
  sign(bytes: Uint8Array): Buffer;
};

/**
 * Keys of the vault's message authentication codes (HMAC-SHA-256), 32 bytes each, one a purpose. Someone who can write to a
 * store but has no root key cannot compute a code. They never rotate.
 */
export type IntegrityKeys = {
  /** The events of each append. */
  readonly commits: Buffer;
  /** The rows of tokens, tenants and applications. */
  readonly rows: Buffer;
  /** The manifest of a backup. */
  readonly backups: Buffer;
};

/** Data keys, each wrapped under its tenant's key, which is wrapped under the root key. */
export interface KeyRing {
  /** Makes a tenant's keys; durable when it resolves. */
  createTenant(tenantId: string): Promise<void>;
  /** Null: the tenant has none, or they were destroyed. */
  tenantKeys(tenantId: string): Promise<TenantKeys | null>;
  /**
   * The key of the tenant's search terms in a generation of token rows, 32 bytes; another generation has another one, so
   * that a rebuild ends all older terms. Null for an unknown tenant, and for a generation without a key.
   */
  searchKey(tenantId: string, generation: number): Promise<Buffer | null>;
  /** Makes the key of a new generation and answers its number, which no other had before; durable when it resolves. */
  createGeneration(): Promise<number>;
  /** The generations that have a key. */
  generations(): Promise<readonly number[]>;
  /** Destroys the key of a generation, as `destroy` does data keys: also what it throws. A repeat harms nothing. */
  destroyGeneration(generation: number): Promise<void>;
  /**
   * Destroys all keys of a tenant, and with them everything that lies under them, as `destroy` does data keys: also
   * what it throws and what it answers.
   */
  destroyTenant(tenantId: string, eventId: string): Promise<number>;
  /**
   * A new data key, durable before it is handed out. The buffer is the caller's to zero. Throws StoreUnavailable when the
   * tenant's keys were destroyed.
   */
  create(tenantId: string): Promise<DataKey>;
  /** Runs `use` with the opened key, which must not leave it: the buffer may be zeroed right after. */
  use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>>;
  /**
   * Destroys keys. When it resolves nothing that reads the store finds them, and with SQLite the wrapped bytes are in no
   * file of it (what MongoDB keeps for a while: ADR 22). Until that is so it waits some seconds and then throws
   * StoreUnavailable, and a repeat goes on. Answers how many keys this call brought to their end: 0 means that all of them
   * were gone before. `advanced` is noted in the same write, as by `advance`.
   */
  destroy(ended: readonly EndedKey[], advanced?: readonly KeyRevision[]): Promise<number>;
  /** Notes revisions of living keys, in one write; never an older one. Durable when it resolves. */
  advance(advanced: readonly KeyRevision[]): Promise<void>;
  /** Notes the revisions of records of the directory, never an older one. Durable when it resolves. */
  noteDirectory(revisions: readonly DirectoryRevision[]): Promise<void>;
  /** Returns what was noted of these records, by `directoryName`; a record of which nothing was noted is left out. */
  directoryRevisions(records: readonly DirectoryName[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Forgets all that was noted of keys and of the directory. For a log that is accepted in the place of a newer one: the
   * shredder notes anew what that log says.
   */
  forgetRevisions(): Promise<void>;
  /**
   * Living keys after `afterSequence` that were made before `madeBefore` (ms), in order, at most `limit`. Where several
   * processes make keys, `madeBefore` must lie minutes back for a sequence to be one that nothing is added before.
   */
  made(afterSequence: number, madeBefore: number, limit: number): Promise<readonly MadeKey[]>;
  /** What became of these keys; one that has no row is left out. */
  fates(keyIds: readonly string[]): Promise<readonly KeyFate[]>;
  /** The key that signs checkpoints: one for the whole vault, made at the first call, durable before it is answered. */
  signingKey(): Promise<SigningKey>;
  /** The keys that authenticate what the stores hold, made at the first call like the signing key. */
  integrityKeys(): Promise<IntegrityKeys>;
  /** How far a reader of the log or of the keys came, kept in the key store so that a restored copy rewinds; 0 first. */
  checkpoint(name: KeyRingReader): Promise<number>;
  saveCheckpoint(name: KeyRingReader, value: number): Promise<void>;
  logMemory(): Promise<LogMemory>;
  /** Remembers these unless something newer is remembered already; null leaves what is there. Durable when it resolves. */
  rememberLog(memory: LogMemory): Promise<void>;
  /** Remembers these in place of whatever is remembered: the log is another copy. */
  replaceLogMemory(memory: LogMemory): Promise<void>;
  readonly rotation: KeyRotation;
}
