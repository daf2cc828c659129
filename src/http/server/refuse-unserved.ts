import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';

/**
 * Rejects each request that no route serves. The response is 405 with `Allow` if the path supports other methods, or
 * 404 if it does not (docs/contract.md, "Methods"). `OPTIONS` is served only as a CORS preflight. `count` counts the
 * request against the limit for requests without a key.
 *
 * The decision depends only on the method and the path, never on a key or a token, so a caller learns nothing beyond
 * the public OpenAPI document. Register this function before the routes.
 */
export function refuseUnserved(app: FastifyInstance, count: (request: FastifyRequest) => Promise<void>): void {
  const served = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    // The CORS plugin adds the path `*`.
    if (!url.startsWith('/')) return;
    const known = served.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const one of [method].flat()) known.methods.add(one);
    served.set(url, known);
  });

  /**
   * Returns the methods of all routes that match the path. A token may have the id `search`, so several routes may
   * match.
   */
  function methodsAt(path: string): readonly string[] {
    const matching = [...served.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
  }

  async function refuse(request: FastifyRequest, reply: FastifyReply): Promise<never> {
    await count(request);
    const methods = methodsAt(decodeURI(request.url.split(/[?#]/, 1)[0] ?? ''));
    if (methods.length === 0) throw new Problem('not_found');
    reply.header('allow', methods.join(', '));
    throw new Problem('method_not_allowed');
  }

  app.addHook('onRequest', (request, reply, done) => {
    // The CORS plugin would respond to these requests itself, without a problem document.
    if (request.method === 'OPTIONS' && !request.is404 && !isPreflight(request)) refuse(request, reply).catch(done);
    else done();
  });
  // Runs after the CORS hooks, so that a browser can read the response. Threat: Fastify parses the body before it runs
  // the handler for unknown paths, so callers without a key could make it parse any number of bodies without reaching
  // the limit.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (request.is404) refuse(request, reply).catch(done);
    else done();
  });
}

/** Returns true if the request is a browser's preflight, which asks what a page from another origin may send. */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** Returns a pattern that matches a route's paths as the router does, with or without a trailing slash. */
function patternOf(url: string): RegExp {
  const parts = url.split(/:\w+/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}/?$`);
}
