import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * Any failure of Redis, told by its code alone (`ECONNREFUSED`, `WRONGPASS`): an error of the library carries the command,
 * and that can be the password.
 */
export function redisFailure(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  if (!(error instanceof Error)) return new StoreUnavailable('redis', 'failed');
  const ofSystem = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const ofRedis = error.name === 'ReplyError' ? (error.message.split(' ')[0] ?? '') : '';
  const code = [ofSystem, ofRedis].find((word) => /^[A-Z_]{3,40}$/.test(word));
  return new StoreUnavailable('redis', code?.toLowerCase() ?? 'failed');
}
