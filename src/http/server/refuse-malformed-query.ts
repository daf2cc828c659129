import type { FastifyInstance } from 'fastify';
import { Problem } from '../problem/problem.js';

/**
 * Rejects each request whose query string is not percent-encoded UTF-8. The query parser would accept malformed text as
 * a value, so a list would be empty, and its caller would conclude that nothing exists.
 */
export function refuseMalformedQuery(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const at = request.url.indexOf('?');
    done(at < 0 || isDecodable(request.url.slice(at + 1)) ? undefined : new Problem('malformed_request'));
  });
}

function isDecodable(text: string): boolean {
  try {
    // Uses the result, because the bundler removes a call of `decodeURIComponent` whose result is not used.
    return decodeURIComponent(text).length <= text.length;
  } catch {
    return false;
  }
}
