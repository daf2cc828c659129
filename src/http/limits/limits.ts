import { isIPv6 } from 'node:net';
import type { Caller } from '../../domain/access/caller.js';
import { after, type Maybe } from '../../ports/maybe.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Limit, RateLimits } from '../../ports/rate-limits.js';
import type { LimitSettings } from '../../vault/limit-settings.js';
import { Problem } from '../problem/problem.js';

/**
 * The limits per application and per address. Each function counts a request, and throws Problem 429 if the request
 * exceeds the limit.
 */
export type Limits = {
  request(caller: Caller): Maybe<void>;
  /**
   * Counts each token of a request (docs/contract.md, "Rate limits"). A route calls this function after it has parsed
   * the body. If the limit rejects the request, none of its tokens count.
   */
  weigh(caller: Caller, tokens: number): Maybe<void>;
  /**
   * Counts a request to a route that requires no key. Health routes are exempt, because probes must never be rejected.
   */
  keyless(request: { readonly ip: string; readonly url: string }): Maybe<void>;
  /** Counts a request without a valid key. The count does not affect requests with a valid key. */
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
    throw new Problem(problemOf[limit.name], { retryAfterMs: endsInMs });
  }

  return {
    request: ({ applicationId }) => use(requests, applicationId, 1),
    // The request was counted as one token when it arrived, so only its other tokens are counted here.
    weigh: ({ applicationId }, tokens) => use(requests, applicationId, Math.max(0, tokens - 1)),
    keyless: ({ ip, url }) => (url.startsWith('/health/') ? undefined : use(keyless, addressGroup(ip), 1)),
    authFailure: (address) => use(failures, addressGroup(address), 1),
  };
}

const groupsOfNetwork = 4;

/**
 * Returns the group of an address. Requests are counted per group. The group is the address itself for IPv4 in any
 * notation, and the /64 network for IPv6. Threat: an attacker with one IPv6 network has 2^64 addresses and tries a bad
 * key from each.
 */
export function addressGroup(address: string): string {
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (ipv4?.[1] !== undefined) return ipv4[1];
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, groupsOfNetwork).join(':');
}

function groups(text: string): readonly string[] {
  return text === '' ? [] : text.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
