import type { FastifyServerOptions } from 'fastify';
import { routedUrl } from './refuse-what-node-refuses.js';

type Listening = {
  readonly trustedProxies: readonly string[];
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
};

/** The options in which the API and the console differ. */
type Differences = Pick<FastifyServerOptions, 'frameworkErrors' | 'clientErrorHandler'> & {
  readonly bodyLimit: number;
};

/**
 * The maximum length of an id in a path. The limit exceeds the longest request line that Node.js accepts, so the router
 * accepts every id. An id that is too long for a token therefore returns 404, like any other unknown id.
 */
const pathIdCharactersMax = 16 * 1024;

/**
 * Returns the Fastify options of the API or of the console. Threat: slow clients hold connections. Both servers therefore
 * have the same time limits.
 */
export function serverOptions({ trustedProxies, tls }: Listening, differences: Differences): FastifyServerOptions {
  const options: FastifyServerOptions = {
    ...differences,
    logger: false,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // The service still serves requests on open connections while it is stopping.
    return503OnClosing: false,
    rewriteUrl: routedUrl,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathIdCharactersMax },
  };
  const http = { requireHostHeader: false };
  const server = tls === null ? { http } : { https: { ...http, ...tls } };
  return { ...options, ...server } as FastifyServerOptions;
}
