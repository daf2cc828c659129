import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';

/** The requests (Node.js messages) whose URL cannot be decoded. */
const undecodable = new WeakSet<object>();

/**
 * Returns the URL that Fastify uses to route a message (`rewriteUrl`). If a URL cannot be decoded, Fastify rejects the
 * message before it runs any hook. We therefore route such a message under a different URL, so that our hooks run and
 * `refuseWhatNodeRefuses` rejects it. Threat: an attacker without a key sends thousands of such requests on one
 * connection. Our hooks count these requests toward a limit.
 */
export function routedUrl(message: { readonly url?: string | undefined }): string {
  const { url = '/' } = message;
  if (!url.includes('%')) return url;
  try {
    decodeURI(url.split(/[?#]/, 1)[0] ?? '');
    return url;
  } catch {
    undecodable.add(message);
    return '/';
  }
}

/**
 * Sends a problem document in response to the requests that Node.js would reject with an empty response. These are
 * HTTP/1.1 requests without `Host` (RFC 9112, section 3.2), and requests with an expectation other than `100-continue`
 * (RFC 9110, section 10.1.1). The server must be created with `requireHostHeader: false`.
 *
 * Also rejects a URL that cannot be decoded. Calls `count` for a request with such a URL, because no key is required to
 * send it.
 */
export function refuseWhatNodeRefuses(app: FastifyInstance, count: (request: FastifyRequest) => Promise<void>): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', (request, _reply, done) => {
    const { raw } = request;
    const { host, expect } = raw.headers;
    const lacksHost = host === undefined && raw.httpVersion === '1.1';
    const expectsOther = expect !== undefined && expect.toLowerCase() !== '100-continue';
    if (undecodable.has(raw)) count(request).then(() => done(new Problem('malformed_request')), done);
    else done(lacksHost || expectsOther ? new Problem('malformed_request') : undefined);
  });
}
