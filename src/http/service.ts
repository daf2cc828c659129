import type { Caller } from '../domain/access/caller.js';
import type { Metrics } from '../ports/metrics.js';
import type { Projections } from '../ports/projections.js';
import type { ServiceState } from '../ports/service-state.js';
import type { Spans } from '../ports/spans.js';
import type { Vault } from '../vault/vault.js';
import type { Limits } from './limits/limits.js';

/** What the HTTP layer works with; `compose` makes it. */
export type Service = {
  readonly vault: Vault;
  /** Who a key belongs to, or null. */
  authenticate(key: string): Promise<Caller | null>;
  /** Ready or not, and why. */
  state(): Promise<ServiceState>;
  readonly limits: Limits;
  readonly metrics: Metrics;
  /** Null: no traces are recorded. */
  readonly spans: Spans | null;
  readonly projections: Projections;
  /** An error that no request caused; a lost key makes the service unready. */
  reportError(error: unknown): void;
};

/** Lower-case names of the headers that carry each thing, the standard one first. */
export type HeaderNames = {
  readonly apiKey: readonly string[];
  readonly traceId: readonly string[];
  readonly idempotencyKey: readonly string[];
};
