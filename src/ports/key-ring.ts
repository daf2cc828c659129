/** A data key in the open: 32 bytes for AES-256-GCM, in a buffer of its own. */
export type DataKey = { readonly id: string; readonly key: Buffer };

/** Subkeys of a tenant by HKDF; they never rotate. 32 bytes each. */
export type TenantKeys = {
  /** Names of streams. */
  readonly names: Buffer;
  /** Fingerprints that callers store. */
  readonly fingerprints: Buffer;
  /** Idempotency and deduplication claims. */
  readonly claims: Buffer;
  /** Trace ids in events. */
  readonly audit: Buffer;
  /** Tenant and application documents. */
  readonly directory: Buffer;
};

export type KeyUse<T> =
  | { readonly state: 'open'; readonly value: T }
  | { readonly state: 'destroyed' }
  /** No row where one must be: the key is lost, which is not the same as erased. */
  | { readonly state: 'missing' };

/** A key and the event that ended it: both together are erasure. */
export type EndedKey = { readonly keyId: string; readonly eventId: string };

/** A living key, with the head of the log before it was made: no event up to there can name it. */
export type MadeKey = { readonly keyId: string; readonly madeAt: number; readonly logHead: number };

/** Data keys, each wrapped under its tenant's key, which is wrapped under the root key. */
export interface KeyRing {
  /** Makes a tenant's keys; durable when it resolves. */
  createTenant(tenantId: string): Promise<void>;
  tenantKeys(tenantId: string): Promise<TenantKeys | null>;
  /** A new data key, durable before it is handed out. The buffer is the caller's to zero. */
  create(tenantId: string): Promise<DataKey>;
  /** Runs `use` with the opened key, which must not leave it: the buffer may be zeroed right after. */
  use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>>;
  /**
   * Destroys keys. When it resolves the wrapped bytes are in no file of the store; until that is so it waits 2 s and
   * then throws StoreUnavailable, and a repeat goes on. Answers how many keys this call brought to their end: 0 means
   * that all of them were gone before.
   */
  destroy(ended: readonly EndedKey[]): Promise<number>;
  /** Living keys made at `from` or later and before `before` (ms), oldest first, at most `limit`. */
  made(from: number, before: number, limit: number): Promise<readonly MadeKey[]>;
  /** A number that readers of the log keep beside the keys, so that a restored key store rewinds them; 0 at first. */
  checkpoint(name: 'shredder' | 'orphans'): Promise<number>;
  saveCheckpoint(name: 'shredder' | 'orphans', value: number): Promise<void>;
}
