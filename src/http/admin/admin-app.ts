import { type FastifyInstance, fastify } from 'fastify';
import type { Service } from '../service.js';

/**
 * Creates the admin app, which serves metrics and detailed health (docs/contract.md, "Operations routes"). Its routes
 * require no API key, so it must listen on loopback or on a separate network. Its responses contain no tokens, callers
 * or addresses.
 */
export function createAdminApp({ state, metrics }: Pick<Service, 'state' | 'metrics'>): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true, routerOptions: { ignoreTrailingSlash: true } });
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
    return reply.code(ready ? 200 : 503).send({ status, reasons, notices, stores, projections });
  });
  // Fastify's default messages would repeat the requested URL.
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ status: 404 }));
  app.setErrorHandler((_error, _request, reply) => reply.code(500).send({ status: 500 }));
  return app;
}
