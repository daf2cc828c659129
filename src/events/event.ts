import type { JsonObject } from '../domain/json.js';

/** The encrypted part of an event: ciphertexts as in `sealing/ciphertext.ts`. The cvc has a ciphertext of its own. */
export type SealedParts = {
  readonly content: Uint8Array | null;
  readonly cvc: Uint8Array | null;
};

/** What goes into the access log, but not into the event log. */
export type EventSource = {
  /** Null if an identity provider authenticated the person, so that no key was used. */
  readonly keyId: string | null;
  readonly sourceAddress: string | null;
  /** The trace with the reason of the request, encrypted for the access log. Absent if there is no reason. */
  readonly trace?: Uint8Array;
};

/** An event that has no place in the log yet. Only its ciphertexts are derived from data. */
export type NewEvent = {
  /** UUID v4, random per attempt to append. */
  readonly id: string;
  readonly type: string;
  /** The schema version of `clear` and of the encrypted contents. */
  readonly version: number;
  readonly tenantId: string;
  /** The application id, or `system` for expiry and purge, or `operator` for the command line. */
  readonly actorId: string;
  /** Absent for the service itself and for the command line. Not stored with the event. */
  readonly source?: EventSource | undefined;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Keyed hash of the idempotency key that caused the event. */
  readonly cmd: string | null;
  /** The trace id and the person of the request, encrypted under the tenant's audit key. */
  readonly trace: Uint8Array | null;
  readonly clear: JsonObject;
  readonly sealed: SealedParts;
};

export type RecordedEvent = NewEvent & {
  readonly stream: string;
  /** Counts from 0 in each stream, without gaps. */
  readonly revision: number;
  /** The order over all streams. Positions increase and may have gaps. */
  readonly position: number;
};

/** An event without its ciphertexts. */
export type ClearEvent = Omit<RecordedEvent, 'sealed' | 'trace'>;

export const noSealedParts: SealedParts = { content: null, cvc: null };
