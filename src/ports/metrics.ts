import type { BudgetName } from './budgets.js';
import type { LimitName } from './rate-limits.js';
import type { ServiceState } from './service-state.js';

/**
 * The metrics reported by the service to its operators. No parameter may identify a token or an address. Labels are
 * route templates and words from our own code. The metric for suspect applications is the only one that contains
 * application ids (docs/contract.md, "Operations routes").
 */
export interface Metrics {
  requestFinished(request: {
    /** The route template, such as `/tokens/:id`, or `none`. */
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly durationMs: number;
  }): void;
  /** Counts a 429 response. */
  rateLimited(limit: LimitName | BudgetName): void;
  /** Counts the guesses charged to a budget, even if the budget has no limit. */
  guessed(budget: BudgetName, guesses: number): void;
  guessBudgetExhausted(budget: BudgetName): void;
  /**
   * Reports that an application used more than a tenth of its hourly budget for deduplication misses without a single
   * hit.
   */
  guessesSuspected(applicationId: string): void;
  keysDestroyed(keys: number): void;
  /** Reports the number of changes made durable by one group commit of the event log. */
  groupCommitted(changes: number): void;
  backgroundWorkFailed(): void;
  /** Reports that a read found a row that had been changed or replaced outside the vault. */
  forgedRowFound(): void;
  /** Reports that a signed checkpoint could not be delivered to the anchor. Delivery will be retried. */
  anchorFailed(): void;
  /** Reports that a request to a webhook is complete. `accepted` means that the response was 2xx. */
  webhookSent(outcome: 'accepted' | 'failed'): void;
  /** Returns all metrics and the current state in the Prometheus text format, and the media type of that format. */
  render(state: ServiceState): Promise<{ readonly mediaType: string; readonly text: string }>;
}
