import type { Caller } from '../../domain/access/caller.js';
import type { Metrics } from '../../ports/metrics.js';
import type { RateLimits } from '../../ports/rate-limits.js';
import type { Rejected } from '../result.js';
import type { LimitSettings } from './limit-settings.js';

const hourMs = 3_600_000;

/**
 * How often an application may ask for values it does not know: a `data:` or `fingerprint:` term that finds nothing, a
 * deduplication onto a token it may not read, an unknown id in detokenize (contract, section 11). Threat: short values
 * such as social security numbers can be tried one by one.
 */
export type Guesses = {
  /**
   * Asked before a request looks up what may turn out a guess: the refusal when the budget is used up, else null. It
   * comes before the look-up because a refusal of wrong guesses alone would tell which ones are right.
   */
  refusal(caller: Caller): Promise<Rejected | null>;
  /** Counts what turned out to be guesses. */
  count(caller: Caller, guesses: number): Promise<void>;
};

/** `onExhausted` is told once an hour and application, when its budget is used up. */
export function createGuesses(
  rateLimits: RateLimits,
  settings: LimitSettings,
  metrics: Metrics,
  onExhausted: (caller: Caller) => Promise<void>,
): Guesses {
  const limit = { name: 'guesses', max: settings.guesses, windowMs: hourMs } as const;
  const unlimited = settings.requests === 0 || settings.guesses === 0;
  return {
    async refusal({ applicationId }) {
      if (unlimited) return null;
      const { used, endsInMs } = await rateLimits.use(limit, applicationId, 0);
      if (used < limit.max) return null;
      metrics.rateLimited('guesses');
      return { ok: false, code: 'guesses_exhausted', retryAfterMs: endsInMs };
    },
    async count(caller, guesses) {
      if (guesses === 0) return;
      metrics.guessed(guesses);
      if (unlimited) return;
      const { used } = await rateLimits.use(limit, caller.applicationId, guesses);
      if (used < limit.max || used - guesses >= limit.max) return;
      metrics.guessBudgetExhausted();
      await onExhausted(caller);
    },
  };
}
