import { Queue, type QueueOptions } from 'bullmq';
import { connectRedis, type RedisClientOptions } from '../redis/connect-redis.js';
import { redisFailure } from '../redis/redis-failure.js';

/**
 * BullMQ requires a client that retries each command until Redis is available again. The time limits in our code keep
 * each wait short.
 */
export const queueClientOptions: RedisClientOptions = { maxRetriesPerRequest: null };

export type QueuePlace = {
  readonly url: string;
  /** The prefix of every Redis key. */
  readonly prefix: string;
};

/** Opens a queue for adding jobs. Calls `report` with a StoreUnavailable for each Redis failure. */
export function bullmqQueue<Job>(
  name: string,
  { url, prefix }: QueuePlace,
  report: (error: unknown) => void,
  options: Pick<QueueOptions, 'streams'> = {},
) {
  const redis = connectRedis(url, queueClientOptions, report);
  const queue = new Queue<Job>(name, { ...options, prefix, connection: redis.client });
  queue.on('error', (error) => report(redisFailure(error)));
  return { queue, disconnect: redis.disconnect };
}
