import type { FastifyInstance } from 'fastify';
import type { RequestLine } from '../logging/request-log.js';
import type { Service } from '../service.js';
import '../request-state.js';

export type RequestLog = {
  /** Logs one finished request. The line never contains a URL, a header, a body or the id of a token. */
  request(line: RequestLine): void;
  /** Logs the error that caused a 500 or 503 response. */
  error(error: unknown, traceId: string): void;
};

/**
 * Counts and logs each finished request. `prefix` distinguishes this app's routes from another app's routes with the
 * same paths.
 */
export function reportRequests(app: FastifyInstance, metrics: Service['metrics'], log: RequestLog, prefix = ''): void {
  app.addHook('onResponse', (request, reply, done) => {
    const finished = {
      route: `${prefix}${request.routeOptions.url ?? 'none'}`,
      method: request.method,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      traceId: request.traceId,
      applicationId: request.caller?.applicationId ?? null,
      code: request.problemCode,
      otelTraceId: request.span?.traceId ?? null,
    };
    metrics.requestFinished(finished);
    log.request(finished);
    done();
  });
}
