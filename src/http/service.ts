import type { Caller } from '../domain/access/caller.js';
import type { Maybe } from '../ports/maybe.js';
import type { Metrics } from '../ports/metrics.js';
import type { Projections } from '../ports/projections.js';
import type { ServiceState } from '../ports/service-state.js';
import type { Spans } from '../ports/spans.js';
import type { Vault } from '../vault/vault.js';
import type { Limits } from './limits/limits.js';

/** The dependencies of the HTTP layer. `compose` creates them. */
export type Service = {
  readonly vault: Vault;
  /** Returns the caller that an API key belongs to, or null if the key is not valid. */
  authenticate(key: string): Maybe<Caller | null>;
  /** Like `authenticate`, but accepts the hash of a key. Console sessions store only this hash. */
  authenticateHash(keyHash: string): Maybe<Caller | null>;
  /**
   * Returns a caller for an application that is identified by its id instead of an API key. Returns null if the
   * application does not exist or has been deleted.
   */
  authenticateApplication(tenantId: string, applicationId: string): Maybe<Caller | null>;
  /** Returns the state of the service. If the service is not ready, the state includes the reasons. */
  state(): Promise<ServiceState>;
  readonly limits: Limits;
  readonly metrics: Metrics;
  /** Records trace spans. Null if traces are not recorded. */
  readonly spans: Spans | null;
  readonly projections: Projections;
  /**
   * Records the damage revealed by an error, such as a lost key or a forged row. Once damage has been recorded, the
   * service is no longer ready.
   */
  reportError(error: unknown): void;
};

/** The lowercase header names for each purpose. The standard name is the first. */
export type HeaderNames = {
  readonly apiKey: readonly string[];
  readonly traceId: readonly string[];
  readonly idempotencyKey: readonly string[];
};
