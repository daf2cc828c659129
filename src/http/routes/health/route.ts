import type { Routes } from '../../routes.js';
import { liveOperation, readyOperation } from './operations.js';

const retryAfterSeconds = 1;

/** `GET /health/live` and `GET /health/ready`: the state alone, for everyone (contract, section 11). */
export const healthRoute: Routes = (app, service) => {
  app.get('/health/live', { config: { operation: liveOperation } }, async (_request, reply) =>
    reply.send({ status: 'live' }),
  );
  app.get('/health/ready', { config: { operation: readyOperation } }, async (_request, reply) => {
    const { reasons } = await service.state();
    if (reasons.length === 0) return reply.send({ status: 'ready' });
    return reply.code(503).header('retry-after', retryAfterSeconds).send({ status: 'not_ready' });
  });
};
