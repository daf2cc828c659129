import type { FastifyServerOptions } from 'fastify';
import { routedUrl } from './refuse-what-node-refuses.js';

export type Listening = {
  readonly trustedProxies: readonly string[];
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
};

/** The options in which the API and the console differ. */
export type ServerDifferences = Pick<FastifyServerOptions, 'frameworkErrors' | 'clientErrorHandler'> & {
  readonly bodyLimit: number;
};

/**
 * The maximum length of an id in a path. The limit exceeds the longest request line that Node.js accepts, so the router
 * accepts every id. An id that is too long for a token therefore returns 404, like any other unknown id.
 */
const pathIdCharactersMax = 16 * 1024;

/**
 * The time in ms from the first byte of a request to its last. The service ends a slower request at most two seconds
 * later, so that it takes up its tenant's share for at most 30 seconds (SECURITY.md, "Limits that protect").
 */
const requestMs = 28_000;

/** The time limits of every listener. Threat: slow clients hold connections. */
export const timeLimits = {
  requestTimeout: requestMs,
  connectionTimeout: 60_000,
  keepAliveTimeout: 72_000,
  http: {
    // A connection may also stay silent for this long before its first request. If this limit were longer than
    // `requestTimeout`, Node.js would apply it to the whole request.
    headersTimeout: requestMs,
    connectionsCheckingInterval: 1_000,
  },
};

/** Returns the Fastify options of the API or of the console. */
export function serverOptions(
  { trustedProxies, tls }: Listening,
  differences: ServerDifferences,
): FastifyServerOptions {
  const options: FastifyServerOptions = {
    ...timeLimits,
    ...differences,
    logger: false,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    forceCloseConnections: 'idle',
    // The service still serves requests on open connections while it is stopping.
    return503OnClosing: false,
    rewriteUrl: routedUrl,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathIdCharactersMax },
  };
  const http = { ...timeLimits.http, requireHostHeader: false };
  const server = tls === null ? { http } : { https: { ...http, ...tls, handshakeTimeout: 10_000 } };
  return { ...options, ...server } as FastifyServerOptions;
}
