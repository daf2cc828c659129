/** Who and what caused an event, and when. */
export type EventOrigin = {
  /** An application id, `operator` for the command line, `system` for expiry and purge. */
  readonly actorId: string;
  /** The instant of the command, milliseconds since the epoch. */
  readonly at: number;
  readonly traceId: string | null;
  /** Keyed hash of the idempotency key. */
  readonly cmd: string | null;
};
