import type { BudgetName } from './budgets.js';
import type { LimitName } from './rate-limits.js';
import type { ServiceState } from './service-state.js';

/**
 * What the service tells those who run it. Nothing it takes may name a token or an address: labels are route templates,
 * words of ours and, for suspect applications alone, the application (docs/contract.md, "Operations routes").
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
  rateLimited(limit: LimitName | BudgetName): void;
  /** Counts what was charged to a budget, also when there is no limit. */
  guessed(budget: BudgetName, guesses: number): void;
  guessBudgetExhausted(budget: BudgetName): void;
  /** An application used a tenth of an hour's deduplication misses without a hit. */
  guessesSuspected(applicationId: string): void;
  keysDestroyed(keys: number): void;
  /** Changes that one commit of the event log made durable. */
  groupCommitted(changes: number): void;
  backgroundWorkFailed(): void;
  /** A row was read that was changed or replaced outside the vault. */
  forgedRowFound(): void;
  /** A signed checkpoint could not be handed to the anchor; it will be tried again. */
  anchorFailed(): void;
  /** A request to the address of a webhook ended. `accepted`: with a 2xx. */
  webhookSent(outcome: 'accepted' | 'failed'): void;
  /** All of it, and the state of now, as text for Prometheus, with its media type. */
  render(state: ServiceState): Promise<{ readonly mediaType: string; readonly text: string }>;
}
