import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { ManagementEntity } from '../audit/access-log/record-management-read.js';
import type { DirectoryContext } from '../commands/tenancy/change-directory.js';
import type { Caller } from '../domain/access/caller.js';
import type { Permission } from '../domain/access/permission.js';
import type { Maybe } from '../ports/maybe.js';
import type { RequestSpan } from '../ports/spans.js';
import type { RequestContext } from '../vault/request-context.js';
import type { Admission, Lease } from './load/admission.js';
import type { Operation } from './openapi/operation.js';
import { Problem } from './problem/problem.js';
import type { ProblemCode } from './problem/problem-catalogue.js';

declare module 'fastify' {
  interface FastifyInstance {
    admission: Admission;
  }
  interface FastifyRequest {
    traceId: string;
    /** The time when the request arrived, from `performance.now()`. */
    beganAt: number;
    /** The span of the request, or null if the request is not traced. */
    span: RequestSpan | null;
    /** The caller. Set only on API routes that require a key, and on console pages that use an application. */
    caller: Caller | null;
    /** Authenticates the key of the request again. Null if the route requires no key, and on console pages. */
    authenticate: (() => Maybe<Caller | null>) | null;
    /** The resources that the request uses. Set when the request may run. */
    lease: Lease | null;
    /** The code of the problem in the response. The log line contains it. */
    problemCode: ProblemCode | null;
  }
  interface FastifyContextConfig {
    /**
     * The permission that a caller must have on at least one container. If this is a list, any one of the permissions
     * is enough. If this is not set, the route requires no key.
     */
    permission?: Permission | readonly [Permission, ...Permission[]] | 'any_key';
    /**
     * The kind of management data that the route shows. The access log records each response with status 200 as a read
     * of it. Null if nothing is recorded, or if the handler records the read itself. By default, the kind follows from
     * the permission. A route with a list of permissions must set it.
     */
    shows?: ManagementEntity | null;
    /**
     * If true, the route accepts an unknown key. The key may belong to a tenant whose deletion began in an earlier
     * request but was not completed. In that case, the route completes the deletion.
     */
    finishesTenantDeletion?: boolean;
    /** The maximum memory in bytes for the route's response. The memory for the request body is counted separately. */
    memoryBytes?: number;
    /** The media type that a request body must have. */
    mediaType?: 'application/json' | 'application/merge-patch+json';
    /** The route's documentation in the OpenAPI document, in addition to its schemas. */
    operation?: Operation;
  }
}

/**
 * Returns the permissions of a route, any one of which is enough. Returns an empty list if the route requires no
 * permission.
 */
export function permissionsOf(permission: FastifyContextConfig['permission']): readonly Permission[] {
  if (permission === undefined || permission === 'any_key') return [];
  return typeof permission === 'string' ? [permission] : permission;
}

/** Returns the part of the command context that comes from the request. */
export function contextOf(request: FastifyRequest): Pick<RequestContext, 'caller' | 'traceId' | 'beganAt'> {
  return { caller: callerOf(request), traceId: request.traceId, beganAt: request.beganAt };
}

/** Returns the caller of a request. Throws Problem if the request has no caller. */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null) throw new Problem('unauthenticated');
  return request.caller;
}

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
