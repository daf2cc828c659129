import type { FastifyRequest } from 'fastify';
import type { DirectoryContext } from '../commands/tenancy/change-directory.js';
import { callerOf } from './request-state.js';

/** Returns the context of a request for a command on its tenant or on an application of that tenant. */
export function directoryContextOf(request: Pick<FastifyRequest, 'caller' | 'traceId'>): DirectoryContext {
  const { tenantId, applicationId, keyId, sourceAddress } = callerOf(request);
  const actor = { kind: 'application', applicationId, keyId } as const;
  const isKnown = sourceAddress !== undefined;
  return { tenantId, actor: isKnown ? { ...actor, sourceAddress } : actor, traceId: request.traceId };
}
