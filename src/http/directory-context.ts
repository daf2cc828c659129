import type { FastifyRequest } from 'fastify';
import type { DirectoryContext } from '../commands/directory/change-directory.js';
import { callerOf } from './request-state.js';

/** What a request brings to a command on its tenant or on an application of it. */
export function directoryContextOf(request: Pick<FastifyRequest, 'caller' | 'traceId'>): DirectoryContext {
  const { tenantId, applicationId, keyId } = callerOf(request);
  return { tenantId, actor: { kind: 'application', applicationId, keyId }, traceId: request.traceId };
}
