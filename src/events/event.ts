import type { JsonObject } from '../domain/json.js';

/** The encrypted parts of an event, in the format of `sealing/ciphertext.ts`. The cvc has a separate ciphertext. */
export type SealedParts = {
  readonly content: Uint8Array | null;
  readonly cvc: Uint8Array | null;
};

/** The facts about an event's source that go into the access log but not into the event log. */
export type EventSource = {
  /** Null if an identity provider authenticated the person, so no API key was used. */
  readonly keyId: string | null;
  readonly sourceAddress: string | null;
  /** The trace with the reason for the request, encrypted for the access log. Absent if there is no reason. */
  readonly trace?: Uint8Array;
};

/** An event that is not in the log yet. Only its ciphertexts are derived from data. */
export type NewEvent = {
  /** A random UUID v4, new for each attempt to append. */
  readonly id: string;
  readonly type: string;
  /** The schema version of `clear` and of the encrypted contents. */
  readonly version: number;
  readonly tenantId: string;
  /** An application id, `system` for expiries and purges, or `operator` for the command line. */
  readonly actorId: string;
  /** Absent for the service itself and for the command line. Not stored with the event. */
  readonly source?: EventSource | undefined;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The keyed hash of the request's idempotency key, or null if the request had none. */
  readonly cmd: string | null;
  /** The trace id and person of the request, encrypted under the tenant's audit key. */
  readonly trace: Uint8Array | null;
  readonly clear: JsonObject;
  readonly sealed: SealedParts;
};

export type RecordedEvent = NewEvent & {
  readonly stream: string;
  /** Counts from 0 in each stream, without gaps. */
  readonly revision: number;
  /** The event's place in the order of all events. Positions increase and may have gaps. */
  readonly position: number;
};

/** An event without its ciphertexts. */
export type ClearEvent = Omit<RecordedEvent, 'sealed' | 'trace'>;

export const noSealedParts: SealedParts = { content: null, cvc: null };
