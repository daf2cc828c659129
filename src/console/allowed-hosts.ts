import type { FastifyInstance } from 'fastify';
import { ConsoleProblem } from './problem.js';

const loopback = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Rejects a request for a host name that does not belong to the console. `hosts` contains host names without a port.
 * Loopback names are always allowed.
 *
 * Threat: an attacker uses DNS rebinding. The attacker makes the host name of their site resolve to the console's
 * address, so that pages on that site can read the console. The `Host` header of such a request still contains the
 * attacker's host name.
 */
export function allowOnlyHosts(app: FastifyInstance, hosts: readonly string[]): void {
  const allowed = new Set([...loopback, ...hosts.map((host) => host.toLowerCase())]);
  app.addHook('onRequest', (request, _reply, done) => {
    const name = (request.headers.host ?? '').toLowerCase().replace(/:\d{1,5}$/, '');
    done(allowed.has(name) ? undefined : new ConsoleProblem('wrong_host'));
  });
}

/**
 * Rejects a cross-site POST before its body is read. The CSRF check would reject the request too, but the
 * `Sec-Fetch-Site` header makes it possible to reject it earlier.
 */
export function refuseCrossSite(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const site = request.headers['sec-fetch-site'];
    const isForeign = request.method !== 'GET' && site !== undefined && site !== 'same-origin' && site !== 'none';
    done(isForeign ? new ConsoleProblem('cross_site') : undefined);
  });
}
