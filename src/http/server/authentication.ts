import type { FastifyReply, FastifyRequest } from 'fastify';
import { finishTenantDeletion } from '../../commands/tenancy/delete-tenant.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { headerOf } from '../header.js';
import type { Admission } from '../load/admission.js';
import { Problem, permissionMissing } from '../problem/problem.js';
import type { Service } from '../service.js';

/**
 * Creates the first checks of a request, which run before its body is read: 429 over a limit, 401 without a valid key,
 * 403 if the caller does not hold the route's permission on any container (docs/contract.md, "Order of checks"). A
 * request that passes the first two checks waits for its tenant's share.
 */
export function createAuthentication(service: Service, headerNames: readonly string[], admission: Admission) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { permission, finishesTenantDeletion } = request.routeOptions.config;
    if (permission === undefined) return service.limits.keyless(request);
    const key = headerOf(request, headerNames);
    const caller = key === undefined ? null : await service.authenticate(key);
    if (caller === null) {
      if (finishesTenantDeletion !== true || key === undefined || !(await finishTenantDeletion(service.vault, key))) {
        await service.limits.authFailure(request.ip);
        throw new Problem('unauthenticated');
      }
      return reply.code(204).send();
    }
    request.caller = { ...caller, sourceAddress: request.ip };
    await service.limits.request(caller);
    const admitted = admission.admit(request, reply, caller.tenantId);
    if (admitted !== undefined) await admitted;
    if (permission === 'any_key') return undefined;
    const sufficient = typeof permission === 'string' ? [permission] : permission;
    if (!sufficient.some((one) => grantsAnywhere(caller, one))) throw permissionMissing(sufficient);
    return undefined;
  };
}
