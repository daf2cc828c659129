import type { Caller } from '../../domain/access/caller.js';
import { after, type Maybe } from '../../ports/maybe.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Limit, RateLimits } from '../../ports/rate-limits.js';
import type { LimitSettings } from '../../vault/limit-settings.js';
import { Problem } from '../problem/problem.js';
import { addressGroup } from './address-group.js';

/**
 * Counts requests against the limits for their application or address. Each function throws Problem 429 if a request
 * exceeds a limit.
 */
export type Limits = {
  request(caller: Caller): Maybe<void>;
  /**
   * Counts a request once for each token in it (docs/contract.md, "Rate limits"). A route calls this after parsing the
   * body. If the limit rejects the request, none of its tokens are counted.
   */
  weigh(caller: Caller, tokens: number): Maybe<void>;
  /**
   * Counts a request to a route that requires no key. Health routes are exempt, because probes must always get through.
   */
  keyless(request: { readonly ip: string; readonly url: string }): Maybe<void>;
  /** Counts a request without a valid key. The count has no effect on requests with a valid key. */
  authFailure(address: string): Maybe<void>;
};

const problemOf = {
  requests: 'rate_limited',
  auth_failures: 'too_many_bad_keys',
  keyless_requests: 'too_many_without_key',
  guesses: 'guesses_exhausted',
} as const;

export function createLimits(rateLimits: RateLimits, settings: LimitSettings, metrics: Metrics): Limits {
  const { requests: requestsMax, authFailures: failuresMax, keylessRequests: keylessMax, windowMs } = settings;
  const requests: Limit = { name: 'requests', max: requestsMax, windowMs };
  const keyless: Limit = { name: 'keyless_requests', max: keylessMax, windowMs };
  const failures: Limit = { name: 'auth_failures', max: failuresMax, windowMs };

  function use(limit: Limit, subject: string, weight: number): Maybe<void> {
    if (limit.max === 0 || weight === 0) return;
    return after(rateLimits.use(limit, subject, weight), ({ used, endsInMs }) =>
      used <= limit.max ? undefined : refuse(limit, subject, weight, endsInMs),
    );
  }

  async function refuse(limit: Limit, subject: string, weight: number, endsInMs: number): Promise<never> {
    metrics.rateLimited(limit.name);
    await rateLimits.use(limit, subject, -weight);
    throw new Problem(problemOf[limit.name], undefined, endsInMs);
  }

  return {
    request: ({ applicationId }) => use(requests, applicationId, 1),
    // The request itself was counted on arrival.
    weigh: ({ applicationId }, tokens) => use(requests, applicationId, Math.max(0, tokens - 1)),
    keyless: ({ ip, url }) => (url.startsWith('/health/') ? undefined : use(keyless, addressGroup(ip), 1)),
    authFailure: (address) => use(failures, addressGroup(address), 1),
  };
}
