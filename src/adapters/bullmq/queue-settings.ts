import type { RedisClientOptions } from '../redis/connect-redis.js';

/** The name of the timer queue. The processes that set timers and the workers that run them use the same queue. */
export const queueName = 'timers';

/** BullMQ requires a client that retries a command until Redis is back. Our own time limits keep each wait short. */
export const queueClientOptions: RedisClientOptions = { maxRetriesPerRequest: null };
