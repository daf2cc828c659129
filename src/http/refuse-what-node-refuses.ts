import type { FastifyInstance } from 'fastify';
import { Problem } from './problem.js';

/**
 * Refuses, as a problem like any other, what Node would answer by itself without a body: HTTP/1.1 without `Host` (RFC 9112,
 * section 3.2) and an expectation other than `100-continue` (RFC 9110, section 10.1.1). The server must be made with
 * `requireHostHeader: false`.
 */
export function refuseWhatNodeRefuses(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const { host, expect } = raw.headers;
    const lacksHost = host === undefined && raw.httpVersion === '1.1';
    const expectsOther = expect !== undefined && expect.toLowerCase() !== '100-continue';
    done(lacksHost || expectsOther ? new Problem('malformed_request') : undefined);
  });
}
