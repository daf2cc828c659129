import { isIP } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import { watchConnections } from '../load/connections.js';
import { timeLimits } from '../server/server-options.js';
import type { Service } from '../service.js';

/**
 * Creates the admin app, which serves metrics and detailed health (docs/contract.md, "Operations routes"). Its routes
 * require no API key, so it must listen on loopback or on a separate network. Its responses contain no tokens, callers
 * or addresses.
 *
 * If `onLoopback` is true, the app rejects host names other than `localhost`. Threat: an attacker uses DNS rebinding, as
 * against the console. A page in an operator's browser then reads the metrics through the attacker's host name. On any
 * other address, Prometheus may use the name of a service or a pod, so the app accepts every name.
 */
export function createAdminApp(
  { state, metrics }: Pick<Service, 'state' | 'metrics'>,
  { onLoopback }: { readonly onLoopback: boolean },
): FastifyInstance {
  const app = fastify({
    ...timeLimits,
    // Threat: a client keeps idle connections, so that no other client gets one.
    keepAliveTimeout: 5_000,
    logger: false,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
  });
  // Threat: a client without a key pipelines thousands of requests for metrics, which would block the API for minutes.
  watchConnections(app, 'admin');
  app.addHook('onRequest', async (request, reply) => {
    if (onLoopback && isForeignName(request.headers.host)) return reply.code(421).send({ status: 421 });
  });
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  app.get('/metrics', async (_request, reply) => {
    const { mediaType, text } = await metrics.render(await state());
    return reply.header('content-type', mediaType).send(text);
  });
  app.get('/health/live', async (_request, reply) => reply.send({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const { reasons, notices, projections, ...found } = await state();
    const stores = found.stores.map(({ name, state: is }) => ({ name, state: is }));
    const ready = reasons.length === 0;
    const status = ready ? 'ready' : 'not_ready';
    const noticed = notices.map(({ says }) => says);
    return reply.code(ready ? 200 : 503).send({ status, reasons, notices: noticed, stores, projections });
  });
  // Fastify's default messages would repeat the requested URL.
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ status: 404 }));
  app.setErrorHandler((_error, _request, reply) => reply.code(500).send({ status: 500 }));
  return app;
}

/** Returns true if a `Host` header contains a name that may belong to another site. An IP address is no name. */
function isForeignName(host = ''): boolean {
  const name = host.toLowerCase().replace(/:\d{1,5}$/, '');
  return !/^(?:localhost|\[[\da-f:.]+\])?$/.test(name) && isIP(name) === 0;
}
