import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';
import { watchConnections } from '../load/connections.js';
import type { RequestLog } from '../logging/request-log.js';
import '../request-state.js';
import type { Service } from '../service.js';
import { keepOnlyAddresses } from './keep-only-addresses.js';
import { type Listening, type ServerDifferences, serverOptions } from './server-options.js';
import { traceRequests } from './trace-requests.js';

/** The response header that contains the trace id of the request. */
export const traceHeader = 'service-trace-id';

type Differences = ServerDifferences & {
  readonly listener: 'api' | 'console';
  /** Returns the trace id for a new request. */
  traceIdOf(request: FastifyRequest): string;
};

/**
 * Creates a Fastify app with the hooks that the API and the console share. They set the source address, the arrival
 * time and the trace id of each request, limit the cost of connections, and trace, count and log each request.
 */
export function createBaseApp(
  { metrics, spans }: Pick<Service, 'metrics' | 'spans'>,
  { log, ...listening }: Listening & { readonly log: RequestLog },
  { listener, traceIdOf, ...differences }: Differences,
): FastifyInstance {
  const app = fastify(serverOptions(listening, differences));
  app.decorateRequest('traceId', '');
  app.decorateRequest('beganAt', 0);
  app.decorateRequest('span', null);
  app.decorateRequest('caller', null);
  app.decorateRequest('authenticate', null);
  app.decorateRequest('problemCode', null);
  keepOnlyAddresses(app);
  app.addHook('onRequest', (request, reply, done) => {
    request.beganAt = performance.now();
    request.traceId = traceIdOf(request);
    reply.header(traceHeader, request.traceId);
    done();
  });
  if (spans !== null) traceRequests(app, spans);
  watchConnections(app, listener);
  // The prefix distinguishes the console's routes from API routes with the same paths.
  const prefix = listener === 'console' ? 'console:' : '';
  app.addHook('onResponse', (request, reply, done) => {
    const finished = {
      route: `${prefix}${request.routeOptions.url ?? 'none'}`,
      method: request.method,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      traceId: request.traceId,
      applicationId: request.caller?.applicationId ?? null,
      code: request.problemCode,
      otelTraceId: request.span?.traceId ?? null,
    };
    metrics.requestFinished(finished);
    log.request(finished);
    done();
  });
  return app;
}
