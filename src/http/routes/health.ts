import { z } from 'zod';
import { documented } from '../openapi/operation.js';
import type { Routes } from '../routes.js';

const live = z.object({ status: z.literal('live').meta({ description: 'The process is running.' }) });
const ready = z.object({ status: z.literal('ready').meta({ description: 'The service accepts requests.' }) });
const notReady = z.object({
  status: z.literal('not_ready').meta({ description: 'The service is not accepting requests.' }),
});

const liveOperation = documented({
  id: 'isLive',
  tag: 'Service',
  summary: 'Check whether the process is running',
  description: 'Returns 200 as long as the process is running, regardless of the state of its stores.',
  answers: {
    200: { description: 'The process is running.', schema: live, example: { status: 'live' } },
  },
});

const readyOperation = documented({
  id: 'isReady',
  tag: 'Service',
  summary: 'Check whether the service accepts requests',
  description: 'Returns the state without reasons. The admin listener shows the reasons.',
  answers: {
    200: { description: 'The service accepts requests.', schema: ready, example: { status: 'ready' } },
    503: {
      description: 'The service is not accepting requests.',
      schema: notReady,
      example: { status: 'not_ready' },
    },
  },
});

const retryAfterSeconds = 1;

/**
 * `GET /health/live` and `GET /health/ready` return the state without the reasons for it. They require no key
 * (docs/contract.md, "Operations routes").
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
