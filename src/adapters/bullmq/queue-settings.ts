import type { RedisClientOptions } from '../redis/connect-redis.js';

/**
 * BullMQ requires a client that retries each command until Redis is available again. The time limits in our code keep
 * each wait short.
 */
export const queueClientOptions: RedisClientOptions = { maxRetriesPerRequest: null };
