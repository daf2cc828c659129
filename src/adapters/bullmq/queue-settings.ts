import type { RedisClientOptions } from '../redis/connect-redis.js';

/** The name of the queue of timers, shared by the process that sets them and the worker that runs them. */
export const queueName = 'timers';

/** BullMQ requires clients that wait until Redis is back. We bound each wait with our own limits. */
export const queueClientOptions: RedisClientOptions = { maxRetriesPerRequest: null };
