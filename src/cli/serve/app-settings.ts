import type { Config } from '../../compose/config/config.js';
import type { HeaderNames } from '../../http/service.js';
import type { LimitSettings } from '../../vault/limit-settings.js';

export function headerNamesOf({ settings }: Config): HeaderNames {
  return {
    apiKey: ['service-api-key', ...settings['auth.header_aliases']],
    traceId: ['service-trace-id', ...settings['http.trace_header_aliases']],
    idempotencyKey: ['service-idempotency-key', 'idempotency-key', ...settings['http.idempotency_header_aliases']],
  };
}

export function limitsOf({ settings }: Config): LimitSettings {
  return {
    requests: settings['rate_limit.requests'],
    windowMs: settings['rate_limit.window_seconds'] * 1_000,
    authFailures: settings['rate_limit.auth_failures'],
    keylessRequests: settings['rate_limit.keyless_requests'],
    guesses: settings['rate_limit.guesses'],
    deduplicationMisses: settings['rate_limit.deduplication_misses'],
  };
}
