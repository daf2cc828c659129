import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * Reduces a Redis failure to its code, such as `ECONNREFUSED` or `WRONGPASS`. Drops the error message, because ioredis
 * includes the command in it, and the command can contain the password.
 */
export function redisFailure(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  if (!(error instanceof Error)) return new StoreUnavailable('redis', 'failed');
  const ofSystem = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const ofRedis = error.name === 'ReplyError' ? (error.message.split(' ')[0] ?? '') : '';
  const code = [ofSystem, ofRedis].find((word) => /^[A-Z_]{3,40}$/.test(word));
  return new StoreUnavailable('redis', code?.toLowerCase() ?? 'failed');
}
