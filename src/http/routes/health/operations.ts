import { z } from 'zod';
import { documented } from '../../openapi/operation.js';

const ready = z.object({ status: z.literal('ready') });
const notReady = z.object({ status: z.literal('not_ready') });

export const liveOperation = documented({
  id: 'isLive',
  tag: 'Service',
  summary: 'Whether the process runs',
  answers: {
    200: { description: 'It runs.', schema: z.object({ status: z.literal('live') }), example: { status: 'live' } },
  },
});

export const readyOperation = documented({
  id: 'isReady',
  tag: 'Service',
  summary: 'Whether the service takes requests',
  description: 'The state alone; the admin listener says why.',
  answers: {
    200: { description: 'It does.', schema: ready, example: { status: 'ready' } },
    503: { description: 'It does not.', schema: notReady, example: { status: 'not_ready' } },
  },
});
