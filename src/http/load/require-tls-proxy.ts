import { BlockList, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../problem/problem.js';

/** Returns true if the URL is a health route. Probes connect to these routes directly, without the proxy. */
export function isHealthRoute(url: string | undefined): boolean {
  return url?.startsWith('/health/') === true;
}

/**
 * Rejects each request that did not reach a trusted proxy over TLS. The request's key is not read before this check.
 * The connection must come from one of `proxies`. In addition, every value of X-Forwarded-Proto must be `https`, so
 * that a caller that sends this header cannot hide a plaintext hop. `/health/*` is exempt. Threat: a caller connects to
 * the port without the proxy, and an attacker on the network reads the caller's key and card numbers.
 */
export function requireTlsProxy(app: FastifyInstance, proxies: readonly string[]): void {
  const trusted = blockListOf(proxies);
  app.addHook('onRequest', (request, _reply, done) => {
    if (isHealthRoute(request.routeOptions.url)) return done();
    const peer = request.raw.socket.remoteAddress ?? '';
    const comesFromProxy = trusted.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4');
    const cameOverTls = isHttpsOnly(request.headers['x-forwarded-proto']);
    return done(comesFromProxy && cameOverTls ? undefined : new Problem('tls_required'));
  });
}

function isHttpsOnly(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  const hops = String(header).split(',');
  return hops.every((hop) => hop.trim().toLowerCase() === 'https');
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
