/** The actor: an application, the operator at the command line, or the service itself. */
export type ActorType = 'application' | 'operator' | 'system';

/** The outcome. `denied` is a 403, `failed` a 500 or 503. */
export type AccessOutcome = 'success' | 'denied' | 'failed';

/** What the ciphertext of a trace id is bound to: an event, or the access log itself (null). */
export type TracePlace = { readonly stream: string; readonly revision: number };

/**
 * One line of the access log (docs/contract.md, "Access log"). Nothing in it is derived from data. It contains only a
 * keyed hash of a token's id, so the id is erased with the row that contains it.
 */
export type AccessEntry = {
  readonly tenantId: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly actorId: string;
  readonly actorType: ActorType;
  /** The API key that was used. */
  readonly keyId: string | null;
  /** Null for the command line and for the service itself. */
  readonly sourceAddress: string | null;
  readonly entityType: string;
  /** Keyed hash of the id, in hex (`entity-ref.ts`); null if the entry concerns no single entity. */
  readonly entityRef: string | null;
  /** The random id of an application, key or tenant. Never the id of a token. */
  readonly entityId: string | null;
  readonly operation: string;
  readonly outcome: AccessOutcome;
  /** A fixed text. */
  readonly message: string;
  /** The trace id, the person and the reason of the request, encrypted under the tenant's audit key. */
  readonly trace: Uint8Array | null;
  readonly tracePlace: TracePlace | null;
};

/** Entries that became durable together, with the hash of the same writer's previous batch. */
export type AccessBatch = {
  /** From 1 in each chain, without gaps. */
  readonly sequence: number;
  /** The hash of the previous batch; all zeros in the first batch. */
  readonly previous: Uint8Array;
  readonly hash: Uint8Array;
  readonly entries: readonly AccessEntry[];
};
