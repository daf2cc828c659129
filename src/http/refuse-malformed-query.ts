import { Problem } from './problem/problem.js';

/**
 * Rejects a query string that is not percent-encoded UTF-8. The query parser would accept malformed text as a value.
 */
export function refuseMalformedQuery(url: string): void {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw new Problem('malformed_request');
  }
}
