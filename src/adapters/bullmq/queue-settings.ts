import type { RedisClientOptions } from '../redis/connect-redis.js';

/** The name of the timer queue. It is used by the processes that set timers and by the workers that run the jobs. */
export const queueName = 'timers';

/**
 * BullMQ requires a client that retries each command until Redis is available again. The time limits in our code keep
 * each wait short.
 */
export const queueClientOptions: RedisClientOptions = { maxRetriesPerRequest: null };
