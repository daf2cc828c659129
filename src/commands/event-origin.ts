import type { Visitor } from '../domain/access/visitor.js';
import type { EventSource } from '../events/event.js';
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
  /** The person at the console; null if there is none. */
  readonly visitor: Visitor | null;
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
  const { applicationId: actorId, keyId, sourceAddress = null, visitor = null } = caller;
  return { actorId, traceId, visitor, cmd, source: { keyId, sourceAddress } };
}
