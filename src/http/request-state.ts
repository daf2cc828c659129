import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/access/caller.js';
import type { Permission } from '../domain/access/permission.js';
import type { RequestSpan } from '../ports/spans.js';
import type { CommandContext } from '../vault/command-context.js';
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
    /** When the request arrived, from `performance.now()`. */
    beganAt: number;
    /** Null if the request is not traced. */
    span: RequestSpan | null;
    /** Set only on routes with a permission. */
    caller: Caller | null;
    /** Set once the request may run. */
    lease: Lease | null;
    /** The code of the problem in the response, for the log. */
    problemCode: ProblemCode | null;
  }
  interface FastifyContextConfig {
    /**
     * The permission, or one of several, that a caller must hold on at least one container. A route without a
     * permission requires no key.
     */
    permission?: Permission | readonly Permission[] | 'any_key';
    /**
     * If true, the route accepts an unknown key. An earlier request may have deleted the key's tenant without finishing
     * the deletion. The route then finishes it.
     */
    finishesTenantDeletion?: boolean;
    /** The maximum memory for the route's response, in bytes, in addition to the request body. */
    roomBytes?: number;
    /** The media type that a body must have. */
    mediaType?: 'application/json' | 'application/merge-patch+json';
    /** The route's documentation in the OpenAPI document, in addition to its schemas. */
    operation?: Operation;
  }
}

/** Returns the context that a request passes to every command. */
export function contextOf(request: FastifyRequest): Pick<CommandContext, 'caller' | 'traceId' | 'beganAt'> {
  return { caller: callerOf(request), traceId: request.traceId, beganAt: request.beganAt };
}

/** Returns the caller of a request to a route with a permission. */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null) throw new Problem('unauthenticated');
  return request.caller;
}
