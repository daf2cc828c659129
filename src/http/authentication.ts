import type { FastifyRequest } from 'fastify';
import { grantsAnywhere } from '../domain/access/decide-access.js';
import { headerOf } from './header.js';
import { Problem } from './problem.js';
import type { Service } from './service.js';

/**
 * The first checks of a request, before its body is read: 429 over a limit, 401 without a good key, 403 when the caller
 * holds the route's permission nowhere (contract, section 1 "Order of checks").
 */
export function createAuthentication(service: Service, headerNames: readonly string[]) {
  return async (request: FastifyRequest): Promise<void> => {
    const { permission } = request.routeOptions.config;
    if (permission === undefined) return;
    const key = headerOf(request, headerNames);
    const caller = key === undefined ? null : await service.authenticate(key);
    if (caller === null) {
      await service.limits.authFailure(request.ip);
      throw new Problem('unauthenticated');
    }
    request.caller = caller;
    await service.limits.request(caller);
    if (!grantsAnywhere(caller, permission)) throw new Problem('permission_missing');
  };
}
