import type { RedisClientOptions } from '../redis/connect-redis.js';

/** The name of the timer queue, which the processes that set timers share with the workers that run them. */
export const queueName = 'timers';

/** BullMQ requires clients that wait until Redis is back. Our own time limits bound each wait. */
export const queueClientOptions: RedisClientOptions = { maxRetriesPerRequest: null };
