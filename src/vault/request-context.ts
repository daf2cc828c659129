import type { Caller } from '../domain/access/caller.js';

/** The facts about the request that are available to every command. */
export type RequestContext = {
  readonly caller: Caller;
  readonly traceId: string;
  /** The time at which the request began (`performance.now()`). All of the request's reads happen after this time. */
  readonly beganAt: number;
  /**
   * The method, the actual path, and the idempotency key of the request. Null if the request has no idempotency key.
   */
  readonly idempotency: { readonly method: string; readonly path: string; readonly key: string } | null;
};
