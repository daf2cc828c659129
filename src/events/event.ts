import type { JsonObject } from '../domain/json.js';
import type { DirectoryFactType } from '../domain/tenancy/directory-fact.js';
import type { TokenEventType } from '../domain/token/token-event-header.js';

/** The types of the events in a tenant's stream. */
export type DirectoryEventType = DirectoryFactType | 'tenant.fenced';

/**
 * The types of all events. Code that treats event types differently uses a `Record<EventType, …>`, so that the compiler
 * names each place that has to decide about a new type.
 */
export type EventType = TokenEventType | DirectoryEventType | 'audit.checkpoint' | 'log.opened';

/** The encrypted parts of an event, in the format of `sealing/ciphertext.ts`. The cvc has a separate ciphertext. */
export type SealedParts = {
  readonly content: Uint8Array | null;
  readonly cvc: Uint8Array | null;
};

/** The facts about an event's source that are recorded in the access log but not in the event log. */
export type EventSource = {
  /**
   * The id of the API key. Null if an identity provider authenticated the person, because such a request uses no API
   * key.
   */
  readonly keyId: string | null;
  readonly sourceAddress: string | null;
  /**
   * The trace with the reason for the request, encrypted for the access log. Absent if the request states no reason.
   */
  readonly trace?: Uint8Array;
};

/** An event that is not in the log yet. Its ciphertexts are the only fields that are derived from confidential data. */
export type NewEvent = {
  /** A random UUID v4, new for each attempt to append. */
  readonly id: string;
  readonly type: string;
  /** The schema version of `clear` and of the encrypted contents. */
  readonly version: number;
  readonly tenantId: string;
  /** An application id, `system` for expiries and purges, or `operator` for the command line. */
  readonly actorId: string;
  /**
   * The source of the event. It is not stored with the event. Absent if the actor is the service itself or the command
   * line.
   */
  readonly source?: EventSource | undefined;
  /** The time of the event, in milliseconds since the epoch. */
  readonly time: number;
  /** The keyed hash of the request's idempotency key, or null if the request had no idempotency key. */
  readonly cmd: string | null;
  /** The trace id and person of the request, encrypted under the tenant's audit key. */
  readonly trace: Uint8Array | null;
  readonly clear: JsonObject;
  readonly sealed: SealedParts;
};

export type RecordedEvent = NewEvent & {
  readonly stream: string;
  /** The number of the event in its stream. Numbers start at 0 and have no gaps. */
  readonly revision: number;
  /** The event's place in the order of all events. Positions increase and may have gaps. */
  readonly position: number;
};

/** An event without its ciphertexts. */
export type ClearEvent = Omit<RecordedEvent, 'sealed' | 'trace'>;

export const noSealedParts: SealedParts = { content: null, cvc: null };

/** Returns an event that the service itself caused and that has no encrypted parts. */
export function systemEvent(
  event: Pick<NewEvent, 'id' | 'type' | 'version' | 'tenantId' | 'time' | 'clear'>,
): NewEvent {
  return { ...event, actorId: 'system', cmd: null, trace: null, sealed: noSealedParts };
}
