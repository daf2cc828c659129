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
    /** When it came: `performance.now()`. */
    beganAt: number;
    /** Null if the request is not traced. */
    span: RequestSpan | null;
    /** Set on routes with a permission. */
    caller: Caller | null;
    /** Set once the request may run. */
    lease: Lease | null;
    /** The code of the problem that the request ends with, for the log. */
    problemCode: ProblemCode | null;
  }
  interface FastifyContextConfig {
    /** The permission that a caller must hold somewhere, or one of several; a route without one needs no key. */
    permission?: Permission | readonly Permission[] | 'any_key';
    /** An unknown key may be the one that deleted its tenant: the route finishes what a first try began. */
    finishesTenantDeletion?: boolean;
    /** Memory that a response of the route may take beside its body, bytes. */
    roomBytes?: number;
    /** The media type that a body must have. */
    mediaType?: 'application/json' | 'application/merge-patch+json';
    /** What the OpenAPI document says of the route beside its schemas. */
    operation?: Operation;
  }
}

/** What a request brings to every command. */
export function contextOf(request: FastifyRequest): Pick<CommandContext, 'caller' | 'traceId' | 'beganAt'> {
  return { caller: callerOf(request), traceId: request.traceId, beganAt: request.beganAt };
}

/** The caller of a request on a route with a permission. */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null) throw new Problem('unauthenticated');
  return request.caller;
}
