import type { Caller } from '../domain/access/caller.js';

/** The part of a request that every command gets. */
export type CommandContext = {
  readonly caller: Caller;
  readonly traceId: string;
  /** When the request began, before any of its reads: `performance.now()`. */
  readonly beganAt: number;
  /** The method, concrete path and key of an idempotent request; null without a key. */
  readonly idempotency: { readonly method: string; readonly path: string; readonly key: string } | null;
};
