import { accessTracePlace } from '../audit/access-log/new-entry.js';
import type { AccessContext } from '../domain/access/access-context.js';
import type { EventSource, NewEvent } from '../events/event.js';
import { sealTrace } from '../events/sealing/trace-ciphertext.js';
import type { TenantKeys } from '../keys/key-ring.js';
import type { CommandContext } from '../vault/command-context.js';

/** The actor and the request that caused an event, and when. */
export type EventOrigin = {
  /** An application id, `operator` for the command line, `system` for expiry and purge. */
  readonly actorId: string;
  /** The key and the address of the application; absent for other actors. */
  readonly source?: EventSource;
  /** The instant of the command, milliseconds since the epoch. */
  readonly at: number;
  readonly traceId: string | null;
  /** The person and the reason of the request. */
  readonly context?: AccessContext | undefined;
  /** Keyed hash of the idempotency key. */
  readonly cmd: string | null;
};

/** An origin without its instant: each attempt at a command has its own. */
export type RequestOrigin = Omit<EventOrigin, 'at'>;

/** Returns the origin of the events that an application's request causes. */
export function originOf(
  { caller, traceId }: Pick<CommandContext, 'caller' | 'traceId'>,
  cmd: string | null,
): RequestOrigin {
  const { applicationId: actorId, keyId, sourceAddress = null } = caller;
  return { actorId, traceId, context: caller.context, cmd, source: { keyId, sourceAddress } };
}

/**
 * Returns the encrypted trace of an event, and its source. The event contains the person. The reason is only in the
 * access log: it is a free text, which the event log would keep for the life of the tenant.
 */
export function sealOrigin(
  tenantKeys: TenantKeys,
  { traceId, context, source }: EventOrigin,
  place: { readonly tenantId: string; readonly stream: string; readonly revision: number },
): Pick<NewEvent, 'trace' | 'source'> {
  if (traceId === null) return { trace: null, source };
  const person = context?.person ?? null;
  const trace = sealTrace(tenantKeys, traceId, place, { person, reason: null });
  if (source === undefined || (context?.reason ?? null) === null) return { trace, source };
  const { tenantId } = place;
  return {
    trace,
    source: { ...source, trace: sealTrace(tenantKeys, traceId, { tenantId, ...accessTracePlace }, context) },
  };
}
