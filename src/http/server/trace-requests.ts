import type { FastifyInstance } from 'fastify';
import type { Spans } from '../../ports/spans.js';

/**
 * Records a span for each request except health probes. Probes arrive every second, and tracing them would provide no
 * information about callers.
 */
export function traceRequests(app: FastifyInstance, spans: Spans): void {
  app.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    if (route.startsWith('/health')) return done();
    const { traceparent } = request.headers;
    const span = spans.begin(typeof traceparent === 'string' ? traceparent : undefined);
    request.span = span;
    reply.raw.once('close', () => {
      span.end({ method: request.method, route, status: reply.raw.writableFinished ? reply.statusCode : null });
    });
    span.run(done);
  });
  // The body is read in socket event handlers, outside the trace context of the request. This hook enters the context
  // again.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.span === null) done();
    else request.span.run(done);
  });
}
