import type { RedisClientOptions } from '../redis/connect-redis.js';

/** The queue of timers, for who sets them and who runs them. */
export const queueName = 'timers';

/** What BullMQ asks of its clients: they wait until Redis is back. The limits are ours. */
export const queueClientOptions: RedisClientOptions = { maxRetriesPerRequest: null };
