import { Problem } from './problem/problem.js';

/** The parser of query strings takes what is no percent-encoded UTF-8 as it stands; it would be taken for a value. */
export function refuseMalformedQuery(url: string): void {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw new Problem('malformed_request');
  }
}
