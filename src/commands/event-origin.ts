import type { EventSource } from '../events/event.js';
import type { CommandContext } from '../vault/command-context.js';

/** Who and what caused an event, and when. */
export type EventOrigin = {
  /** An application id, `operator` for the command line, `system` for expiry and purge. */
  readonly actorId: string;
  /** By which key and from where an application asked; absent for the others. */
  readonly source?: EventSource;
  /** The instant of the command, milliseconds since the epoch. */
  readonly at: number;
  readonly traceId: string | null;
  /** Keyed hash of the idempotency key. */
  readonly cmd: string | null;
};

/** An origin before its instant: each try at a command has its own. */
export type RequestOrigin = Omit<EventOrigin, 'at'>;

/** The origin of what an application's request causes. */
export function originOf(
  { caller, traceId }: Pick<CommandContext, 'caller' | 'traceId'>,
  cmd: string | null,
): RequestOrigin {
  const { applicationId: actorId, keyId, sourceAddress = null } = caller;
  return { actorId, traceId, cmd, source: { keyId, sourceAddress } };
}
