import type { Vault } from '../commands/vault.js';
import type { Caller } from '../domain/access/caller.js';

/** What the HTTP layer works with; `compose` makes it. */
export type Service = {
  readonly vault: Vault;
  /** Who a key belongs to, or null. */
  authenticate(key: string): Promise<Caller | null>;
  /** Words of ours for what keeps the service from being ready; empty: ready. */
  unready(): readonly string[];
  /** An error that no request caused; a lost key makes the service unready. */
  reportError(error: unknown): void;
};

/** Lower-case names of the headers that carry each thing, the standard one first. */
export type HeaderNames = {
  readonly apiKey: readonly string[];
  readonly traceId: readonly string[];
  readonly idempotencyKey: readonly string[];
};
