import type { LimitName } from './rate-limits.js';
import type { ServiceState } from './service-state.js';

/**
 * What the service tells those who run it. Nothing it takes may name a token, a caller or an address: labels are route
 * templates and words of ours (contract, section 11).
 */
export interface Metrics {
  requestFinished(request: {
    /** The template (`/tokens/:id`), or `none`. */
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly durationMs: number;
  }): void;
  /** An answer of 429. */
  rateLimited(limit: LimitName): void;
  guessed(guesses: number): void;
  guessBudgetExhausted(): void;
  keysDestroyed(keys: number): void;
  /** Changes that one commit of the event log made durable. */
  groupCommitted(changes: number): void;
  backgroundWorkFailed(): void;
  /** A row was read that was changed or replaced outside the vault. */
  forgedRowFound(): void;
  /** A signed checkpoint could not be handed to the anchor; it will be tried again. */
  anchorFailed(): void;
  /** All of it, and the state of now, as text for Prometheus, with its media type. */
  render(state: ServiceState): Promise<{ readonly mediaType: string; readonly text: string }>;
}
