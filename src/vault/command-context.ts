import type { Caller } from '../domain/access/caller.js';

/** The facts about a request that every command gets. */
export type CommandContext = {
  readonly caller: Caller;
  readonly traceId: string;
  /** The time at which the request began, before any of its reads (`performance.now()`). */
  readonly beganAt: number;
  /** The method, actual path and idempotency key of the request. Null if the request has no idempotency key. */
  readonly idempotency: { readonly method: string; readonly path: string; readonly key: string } | null;
};
