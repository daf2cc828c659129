import type { Routes } from '../../routes.js';
import { liveOperation, readyOperation } from './operations.js';

/** `GET /health/live` and `GET /health/ready`: the state alone, for everyone (contract, section 11). */
export const healthRoute: Routes = (app, service) => {
  app.get('/health/live', { config: { operation: liveOperation } }, async (_request, reply) =>
    reply.send({ status: 'live' }),
  );
  app.get('/health/ready', { config: { operation: readyOperation } }, async (_request, reply) => {
    const { reasons } = await service.state();
    return reply.code(reasons.length === 0 ? 200 : 503).send({ status: reasons.length === 0 ? 'ready' : 'not_ready' });
  });
};
