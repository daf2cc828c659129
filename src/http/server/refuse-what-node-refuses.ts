import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';

/** Messages whose URL cannot be decoded. */
const undecodable = new WeakSet<object>();

/**
 * Returns the URL that Fastify uses to route a message (`rewriteUrl`). Fastify rejects a URL that cannot be decoded
 * before it runs any hook. We therefore route such a message under another URL, and `refuseWhatNodeRefuses` rejects it.
 * Threat: these requests require no key, so an attacker could send thousands on one connection without reaching any
 * limit.
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
 * Rejects, with a problem document, requests that Node.js would otherwise reject without a body: HTTP/1.1 without
 * `Host` (RFC 9112, section 3.2), and an expectation other than `100-continue` (RFC 9110, section 10.1.1). Also rejects
 * a URL that cannot be decoded, and calls `count` for it, because such a request requires no key. The server must be
 * created with `requireHostHeader: false`.
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
