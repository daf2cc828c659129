import { z } from 'zod';
import { documented } from '../openapi/operation.js';
import type { Routes } from '../routes.js';

const ready = z.object({ status: z.literal('ready') });
const notReady = z.object({ status: z.literal('not_ready') });

const liveOperation = documented({
  id: 'isLive',
  tag: 'Service',
  summary: 'Whether the process runs',
  answers: {
    200: { description: 'It runs.', schema: z.object({ status: z.literal('live') }), example: { status: 'live' } },
  },
});

const readyOperation = documented({
  id: 'isReady',
  tag: 'Service',
  summary: 'Whether the service accepts requests',
  description: 'The state alone; the admin listener says why.',
  answers: {
    200: { description: 'It does.', schema: ready, example: { status: 'ready' } },
    503: { description: 'The service does not accept requests.', schema: notReady, example: { status: 'not_ready' } },
  },
});

const retryAfterSeconds = 1;

/**
 * `GET /health/live` and `GET /health/ready` show the state, without reasons, and need no key (docs/contract.md,
 * "Operations routes").
 */
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
