import type { Visitor } from '../domain/access/visitor.js';
import { accessTracePlace } from '../events/access-log/seal-entries.js';
import type { EventSource, NewEvent } from '../events/event.js';
import { sealTrace } from '../events/sealing/trace-ciphertext.js';
import type { TenantKeys } from '../keys/key-ring.js';
import type { RequestContext } from '../vault/request-context.js';

/** The actor and the request that caused an event, and the time of the event. */
export type EventOrigin = {
  /** An application id, `operator` for the command line, or `system` for expiry and purge. */
  readonly actorId: string;
  /** The API key and network address that the application used. Absent if the actor is not an application. */
  readonly source?: EventSource;
  /** The time of the attempt that caused the event, in milliseconds since the epoch. */
  readonly at: number;
  readonly traceId: string | null;
  /** The person for whom the request was made, and the reason for it. Null if the request states neither. */
  readonly visitor: Visitor | null;
  /** A keyed hash that identifies the request by its idempotency key. Null if the request has no idempotency key. */
  readonly cmd: string | null;
};

/** An origin without the time. The time is different for each attempt at the command. */
export type RequestOrigin = Omit<EventOrigin, 'at'>;

/** Returns the origin of the events caused by an application's request. */
export function originOf(
  { caller, traceId }: Pick<RequestContext, 'caller' | 'traceId'>,
  cmd: string | null,
): RequestOrigin {
  const { applicationId: actorId, keyId, sourceAddress = null, visitor = null } = caller;
  return { actorId, traceId, visitor, cmd, source: { keyId, sourceAddress } };
}

/**
 * Returns the encrypted trace of an event, and the source of the event. The trace in the event names the person but
 * does not contain the reason. A reason is free text, and an event stays in the log for as long as its tenant exists.
 * Only the trace for the access log contains the reason.
 */
export function sealOrigin(
  tenantKeys: TenantKeys,
  { traceId, visitor, source }: EventOrigin,
  place: { readonly tenantId: string; readonly stream: string; readonly revision: number },
): Pick<NewEvent, 'trace' | 'source'> {
  if (traceId === null) return { trace: null, source };
  const person = visitor === null || visitor.name === null ? null : { ...visitor, reason: null };
  const trace = sealTrace(tenantKeys, { traceId, visitor: person }, place);
  if (source === undefined || visitor === null || visitor.reason === null) return { trace, source };
  const { tenantId } = place;
  const recorded = sealTrace(tenantKeys, { traceId, visitor }, { tenantId, ...accessTracePlace });
  return { trace, source: { ...source, trace: recorded } };
}
