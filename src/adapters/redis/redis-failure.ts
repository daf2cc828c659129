import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * Translates a failure of Redis to its code alone (`ECONNREFUSED`, `WRONGPASS`). An error of the library quotes the
 * command, which can contain the password.
 */
export function redisFailure(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  if (!(error instanceof Error)) return new StoreUnavailable('redis', 'failed');
  const ofSystem = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const ofRedis = error.name === 'ReplyError' ? (error.message.split(' ')[0] ?? '') : '';
  const code = [ofSystem, ofRedis].find((word) => /^[A-Z_]{3,40}$/.test(word));
  return new StoreUnavailable('redis', code?.toLowerCase() ?? 'failed');
}
