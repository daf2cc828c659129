import { Redis, type RedisOptions } from 'ioredis';
import { redisFailure } from './redis-failure.js';

export type RedisConnections = {
  readonly client: Redis;
  /** Closes the client and all its duplicates immediately. Their pending commands fail. */
  disconnect(): void;
};

/**
 * The options that differ between the rate-limit client and the queue client. They determine what happens to a command
 * that cannot be sent.
 */
export type RedisClientOptions = Pick<
  RedisOptions,
  'enableOfflineQueue' | 'autoResendUnfulfilledCommands' | 'maxRetriesPerRequest'
>;

const shared = {
  connectTimeout: 2_000,
  retryStrategy: (attempt: number) => Math.min(attempt * 100, 2_000),
  // After a failover, the old primary is a replica, rejects writes, and leaves the connections open.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
};

/**
 * Connects in the background, and reconnects when the connection is lost. Calls `onError` with a StoreUnavailable for
 * each failure. Each client has a listener for `error` events, because an event without a listener would terminate the
 * process.
 */
export function connectRedis(
  url: string,
  options: RedisClientOptions,
  onError: (error: unknown) => void,
): RedisConnections {
  const clients: Redis[] = [];
  const tracked = (client: Redis): Redis => {
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (override) => tracked(duplicate(override));
    client.on('error', (error) => onError(redisFailure(error)));
    clients.push(client);
    return client;
  };
  return {
    client: tracked(new Redis(url, { ...shared, ...options })),
    disconnect: () => {
      for (const client of clients) client.disconnect();
    },
  };
}
