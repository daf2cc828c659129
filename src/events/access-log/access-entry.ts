import type { PendingTrace, TracePlace } from '../sealing/trace-ciphertext.js';

/** The kind of actor: an application, the operator at the command line, or the service itself. */
export type ActorType = 'application' | 'operator' | 'system';

/** The outcome of a request. `denied` means a 403 response. `failed` means a 500 or 503 response. */
export type AccessOutcome = 'success' | 'denied' | 'failed';

/**
 * One line of the access log (docs/contract.md, "Access log"). Nothing in an entry is derived from the data of a token.
 * In place of a token's id, an entry contains only a keyed hash, so no readable copy of the id remains after the
 * token's row is erased.
 */
export type AccessEntry = {
  readonly tenantId: string;
  /** The time of the entry, in milliseconds since the epoch. */
  readonly time: number;
  readonly actorId: string;
  readonly actorType: ActorType;
  /** The id of the API key that authenticated the request. Null if the request used no API key. */
  readonly keyId: string | null;
  /** The source address of the request. Null if the actor is the command line or the service itself. */
  readonly sourceAddress: string | null;
  readonly entityType: string;
  /**
   * The keyed hash of the entity's id, in hex (`entity-ref.ts`). Null if the entry does not concern a single entity.
   */
  readonly entityRef: string | null;
  /** The random id of an application, key or tenant. This field never contains a token id. */
  readonly entityId: string | null;
  readonly operation: string;
  readonly outcome: AccessOutcome;
  /** The message, one of a fixed set. */
  readonly message: string;
  /** The trace id, person and reason of the request, encrypted under the tenant's audit key. */
  readonly trace: Uint8Array | null;
  /** The index in `trace`, if it contains the traces of several requests. Otherwise null. */
  readonly traceIndex: number | null;
  /** The event that the ciphertext in `trace` is bound to. Null if it is bound to the access log itself. */
  readonly tracePlace: Omit<TracePlace, 'tenantId'> | null;
};

/** An entry that is not stored yet. Its trace is encrypted when it is stored (`seal-entries.ts`), or already is. */
export type NewAccessEntry = Omit<AccessEntry, 'trace' | 'traceIndex'> & {
  readonly trace: Uint8Array | PendingTrace | null;
};

/**
 * Entries that were stored together. The batches of one writer form a chain, because each batch contains the hash of
 * the previous batch.
 */
export type AccessBatch = {
  /** The number of the batch in its chain. Numbers start at 1 and have no gaps. */
  readonly sequence: number;
  /** The hash of the previous batch, or all zeros in the first batch. */
  readonly previous: Uint8Array;
  readonly hash: Uint8Array;
  readonly entries: readonly AccessEntry[];
};
