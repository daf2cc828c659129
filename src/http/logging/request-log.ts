import type { Logger } from './logger.js';

type RequestLine = {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly traceId: string;
  /** The id of the application that sent the request, or null if the request was not authenticated. */
  readonly applicationId: string | null;
  /** The code of the problem in the response, or null if the response is not a problem. */
  readonly code: string | null;
  /** The OpenTelemetry trace of the request, or null if the request is not traced. */
  readonly otelTraceId: string | null;
};

export type RequestLog = {
  /** Logs one finished request. The line never contains a URL, a header, a body or the id of a token. */
  request(line: RequestLine): void;
  /** Logs the error that caused a 500 or 503 response. */
  error(error: unknown, traceId: string): void;
};

/** Health routes that load balancers and orchestrators call about once per second. */
const probes: ReadonlySet<string> = new Set(['/health/live', '/health/ready']);

/** Creates the log of requests. Health probes are logged at the level `debug`. */
export function createRequestLog(logger: Logger): RequestLog {
  return {
    request({ route, method, status, durationMs, traceId, applicationId, code, otelTraceId }) {
      const log = probes.has(route) ? logger.debug : logger.info;
      const rounded = Math.round(durationMs * 10) / 10;
      log('request', { route, method, status, durationMs: rounded, traceId, applicationId, code, otelTraceId });
    },
    error(error, traceId) {
      logger.error('request failed', { error, traceId });
    },
  };
}
