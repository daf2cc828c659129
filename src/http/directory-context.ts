import type { FastifyRequest } from 'fastify';
import type { DirectoryContext } from '../commands/tenancy/change-directory.js';
import { callerOf } from './request-state.js';

/** Returns the context for a command on the request's tenant or on an application of that tenant. */
export function directoryContextOf(request: Pick<FastifyRequest, 'caller' | 'traceId'>): DirectoryContext {
  const { tenantId, applicationId, keyId, sourceAddress, visitor } = callerOf(request);
  const actor = {
    kind: 'application',
    applicationId,
    keyId,
    ...(sourceAddress === undefined ? {} : { sourceAddress }),
    ...(visitor === undefined ? {} : { visitor }),
  } as const;
  return { tenantId, actor, traceId: request.traceId };
}
