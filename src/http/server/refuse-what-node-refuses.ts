import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';

/** The requests (Node.js messages) whose URL cannot be decoded. */
const undecodable = new WeakSet<object>();

/** A path that neither the API nor the console serves. */
const unservedPath = '/undecodable';

/**
 * Returns the URL that Fastify uses to route a message (`rewriteUrl`). If a URL cannot be decoded, Fastify rejects the
 * message before it runs any hook. We therefore route such a message to a path that no route serves, so that our hooks
 * run, including those of CORS. The hook that rejects unserved paths also counts the request toward a limit. Threat: an
 * attacker without a key sends thousands of such requests on one connection.
 */
export function routedUrl(message: { readonly url?: string | undefined }): string {
  const { url = '/' } = message;
  if (!url.includes('%')) return url;
  try {
    decodeURI(url.split(/[?#]/, 1)[0] ?? '');
    return url;
  } catch {
    undecodable.add(message);
    return unservedPath;
  }
}

/** Returns true if the URL of a request cannot be decoded. Such a request receives 400 instead of 404. */
export function isUndecodable({ raw }: FastifyRequest): boolean {
  return undecodable.has(raw);
}

/**
 * The maximum number of headers in a request. Threat: Node.js silently drops the headers beyond its own limit. A caller
 * could fill the headers so that the vault does not see the ones that a proxy appends, such as the source address or
 * `X-Forwarded-Proto: http`, or a second API key, or a precondition.
 */
const headersMax = 1_000;

/**
 * Sends a problem document in response to the requests that Node.js would reject with an empty response, or of which it
 * would ignore a part. These are HTTP/1.1 requests without `Host`, requests with more than one (RFC 9112, section 3.2),
 * requests with an expectation other than `100-continue` (RFC 9110, section 10.1.1), and requests with too many headers.
 * The server must be created with `requireHostHeader: false`.
 */
export function refuseWhatNodeRefuses(app: FastifyInstance): void {
  // Node.js keeps one header more than the maximum, so that the hook recognizes a request with too many.
  app.server.maxHeadersCount = headersMax + 1;
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const { expect } = raw.headers;
    const hosts = raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
    const hasWrongHosts = hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1');
    const expectsOther = expect !== undefined && expect.toLowerCase() !== '100-continue';
    const hasTooMany = raw.rawHeaders.length / 2 > headersMax;
    done(hasWrongHosts || expectsOther || hasTooMany ? new Problem('malformed_request') : undefined);
  });
}
