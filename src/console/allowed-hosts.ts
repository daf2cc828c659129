import type { FastifyInstance } from 'fastify';
import { ConsoleProblem } from './problem.js';

const loopback = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Rejects a request for a host name that the console does not have. Threat: DNS rebinding. A page of another site whose
 * name is made to resolve to this address could read the console like its own pages. Such a request names that site.
 * `hosts` are names without a port; loopback is always allowed.
 */
export function allowOnlyHosts(app: FastifyInstance, hosts: readonly string[]): void {
  const allowed = new Set([...loopback, ...hosts.map((host) => host.toLowerCase())]);
  app.addHook('onRequest', (request, _reply, done) => {
    const name = (request.headers.host ?? '').toLowerCase().replace(/:\d{1,5}$/, '');
    done(allowed.has(name) ? undefined : new ConsoleProblem('wrong_host'));
  });
}

/**
 * Rejects a post that another site caused, before its body is read. The CSRF token rejects it as well; browsers that
 * send `Sec-Fetch-Site` are stopped earlier.
 */
export function refuseCrossSite(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const site = request.headers['sec-fetch-site'];
    const isForeign = request.method !== 'GET' && site !== undefined && site !== 'same-origin' && site !== 'none';
    done(isForeign ? new ConsoleProblem('cross_site') : undefined);
  });
}
