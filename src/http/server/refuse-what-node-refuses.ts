import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';

/** Messages whose address cannot be decoded. */
const undecodable = new WeakSet<object>();

/**
 * The address by which a message is routed, for Fastify's `rewriteUrl`. Fastify refuses an address that cannot be decoded
 * before any hook runs, so such a message is routed by another one, and `refuseWhatNodeRefuses` refuses it. Threat: it needs
 * no key, and thousands of them on one connection were answered at once, past every limit.
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
 * Refuses, as a problem like any other, what Node would answer by itself without a body: HTTP/1.1 without `Host` (RFC 9112,
 * section 3.2) and an expectation other than `100-continue` (RFC 9110, section 10.1.1); and an address that cannot be decoded.
 * `count` counts a request of that kind, which needs no key. The server must be made with `requireHostHeader: false`.
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
