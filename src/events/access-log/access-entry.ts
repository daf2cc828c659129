/** The kind of actor: an application, the operator at the command line, or the service itself. */
export type ActorType = 'application' | 'operator' | 'system';

/** The outcome of a request. `denied` is a 403; `failed` is a 500 or 503. */
export type AccessOutcome = 'success' | 'denied' | 'failed';

/** The event that a trace ciphertext is bound to. Null if it is bound to the access log itself. */
export type TracePlace = { readonly stream: string; readonly revision: number };

/**
 * One line of the access log (docs/contract.md, "Access log"). Nothing in it is derived from data. It contains only a
 * keyed hash of a token's id, so erasing the token's row leaves no readable copy of the id.
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
  /** The keyed hash of the id, in hex (`entity-ref.ts`); null if the entry does not concern a single entity. */
  readonly entityRef: string | null;
  /** The random id of an application, key or tenant, and never a token id. */
  readonly entityId: string | null;
  readonly operation: string;
  readonly outcome: AccessOutcome;
  /** One of a fixed set of messages. */
  readonly message: string;
  /** The trace id, person and reason of the request, encrypted under the tenant's audit key. */
  readonly trace: Uint8Array | null;
  readonly tracePlace: TracePlace | null;
};

/** Entries that became durable together, chained to the same writer's previous batch by its hash. */
export type AccessBatch = {
  /** Counts from 1 in each chain, without gaps. */
  readonly sequence: number;
  /** The hash of the previous batch; all zeros in the first batch. */
  readonly previous: Uint8Array;
  readonly hash: Uint8Array;
  readonly entries: readonly AccessEntry[];
};
