import type { Logger } from './logger.js';

export type RequestLine = {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly traceId: string;
  /** Null when no application was recognised. */
  readonly applicationId: string | null;
};

/** What the HTTP layer logs: one line for each finished request, and one for each error behind an answer of 5xx. */
export function createRequestLog(logger: Logger) {
  return {
    request({ route, method, status, durationMs, traceId, applicationId }: RequestLine): void {
      const line = { route, method, status, durationMs: Math.round(durationMs * 10) / 10, traceId };
      logger.info('request', applicationId === null ? line : { ...line, applicationId });
    },
    error(error: unknown, traceId: string): void {
      logger.error('request failed', { error, traceId });
    },
  };
}
