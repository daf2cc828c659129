import type { BudgetName } from './budgets.js';
import type { LimitName } from './rate-limits.js';
import type { ServiceState } from './service-state.js';

/**
 * What the service reports to its operators. No parameter may name a token or an address: labels are route templates,
 * words of ours and, only for suspects, the application (docs/contract.md, "Operations routes").
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
  /** Counts what was charged to a budget, even without a limit. */
  guessed(budget: BudgetName, guesses: number): void;
  guessBudgetExhausted(budget: BudgetName): void;
  /** An application used a tenth of an hour's deduplication misses without a hit. */
  guessesSuspected(applicationId: string): void;
  keysDestroyed(keys: number): void;
  /** The number of changes that one commit of the event log made durable. */
  groupCommitted(changes: number): void;
  backgroundWorkFailed(): void;
  /** A row was read that had been changed or replaced outside the vault. */
  forgedRowFound(): void;
  /** A signed checkpoint could not be delivered to the anchor. It will be tried again. */
  anchorFailed(): void;
  /** A request to the address of a webhook ended. `accepted` means that the response was 2xx. */
  webhookSent(outcome: 'accepted' | 'failed'): void;
  /** All metrics and the current state as text for Prometheus, with its media type. */
  render(state: ServiceState): Promise<{ readonly mediaType: string; readonly text: string }>;
}
