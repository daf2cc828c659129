import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../limits/limits.js';
import { Problem } from '../problem/problem.js';
import { isUndecodable } from './refuse-what-node-refuses.js';

/**
 * Rejects each request that no route serves. The response is 400 if the path cannot be decoded, 405 with `Allow` if the
 * path supports other methods, and 404 if it does not (docs/contract.md, "Methods"). `OPTIONS` is served only as a CORS
 * preflight. Each rejected request counts toward the limit on requests without a key. Call this function before you
 * register the routes.
 *
 * The decision depends only on the method and the path, never on a key or a token. A caller therefore learns nothing
 * that is not in the public OpenAPI document.
 */
export function refuseUnserved(app: FastifyInstance, limits: Pick<Limits, 'keyless'>): void {
  const served = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    // Ignores the path `*`, which the CORS plugin adds.
    if (!url.startsWith('/')) return;
    const known = served.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const one of [method].flat()) known.methods.add(one);
    served.set(url, known);
  });

  /**
   * Returns the methods of all routes that match the path. Several routes can match. For example, `/tokens/search` is a
   * route, but `search` can also be the id of a token.
   */
  function methodsAt(path: string): readonly string[] {
    const matching = [...served.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
  }

  async function refuse(request: FastifyRequest, reply: FastifyReply): Promise<never> {
    await limits.keyless(request);
    if (isUndecodable(request)) throw new Problem('malformed_request');
    const methods = methodsAt(decodeURI(request.url.split(/[?#]/, 1)[0] ?? ''));
    if (methods.length === 0) throw new Problem('not_found');
    reply.header('allow', methods.join(', '));
    throw new Problem('method_not_allowed');
  }

  app.addHook('onRequest', (request, reply, done) => {
    // For an `OPTIONS` request that is not a preflight, the CORS plugin would not respond with a problem document.
    if (request.method === 'OPTIONS' && !request.is404 && !isPreflight(request)) refuse(request, reply).catch(done);
    else done();
  });
  // Runs after the CORS hooks, so that a browser can read the response. Threat: a caller without a key sends large
  // bodies to unknown paths. Without this hook, Fastify would parse each body before it runs the handler for unknown
  // paths, and these requests would not count toward any limit.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (request.is404) refuse(request, reply).catch(done);
    else done();
  });
}

/**
 * Returns true if the request is a preflight. A browser sends a preflight to find out what a page from a different
 * origin may send.
 */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/**
 * Returns a pattern that matches the same paths as the router does for this route, with or without a trailing slash.
 */
function patternOf(url: string): RegExp {
  const parts = url.split(/:\w+/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}/?$`);
}
