import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { KeyLost } from '../commands/key-lost.js';
import type { Rejected } from '../commands/result.js';
import { TenantGone } from '../commands/tenant-gone.js';
import type { FieldErrors } from '../domain/field-errors.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { Problem, problemBody } from './problem.js';
import { type ProblemCode, problemCatalogue } from './problem-catalogue.js';

const retryAfterSeconds = 1;

/** Renders whatever a request threw. Of an unforeseen error nothing reaches the caller but the trace id. */
export function createErrorHandler(report: (error: unknown, traceId: string) => void) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const { code, errors } = problemOf(error);
    if (problemCatalogue[code].status >= 500) report(error, request.traceId);
    sendProblem(reply, code, request.traceId, errors);
  };
}

/** Sends a problem as `application/problem+json`. */
export function sendProblem(reply: FastifyReply, code: ProblemCode, traceId: string, errors?: FieldErrors): void {
  const { status } = problemCatalogue[code];
  if (status === 503) reply.header('retry-after', retryAfterSeconds);
  reply
    .code(status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(problemBody(code, traceId, errors));
}

/** A command that did nothing, as a problem. */
export function problemFrom({ code, errors }: Rejected): Problem {
  return new Problem(code, errors);
}

function problemOf(error: unknown): { code: ProblemCode; errors?: FieldErrors | undefined } {
  if (error instanceof Problem) return error;
  if (error instanceof StoreUnavailable) return { code: 'store_unavailable' };
  if (error instanceof TenantGone) return { code: 'unauthenticated' };
  if (error instanceof KeyLost) return { code: 'key_lost' };
  if (hasZodFastifySchemaValidationErrors(error)) {
    return { code: 'validation_failed', errors: schemaErrors(error.validation) };
  }
  return { code: codeOfLibraryError(error) };
}

/** What Fastify itself refuses. */
function codeOfLibraryError(error: unknown): ProblemCode {
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 'body_too_large';
  if (statusCode === 415) return 'unsupported_media_type';
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? 'malformed_request' : 'internal';
}

type SchemaIssue = { readonly instancePath: string; readonly message?: string | undefined };

function schemaErrors(issues: readonly SchemaIssue[]): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const { instancePath, message } of issues) {
    const path = requestPath(instancePath);
    errors.set(path, [...(errors.get(path) ?? []), message ?? 'is not valid']);
  }
  return Object.fromEntries(errors);
}

/** `/search_indexes/0` as `search_indexes[0]`; the body as a whole is `body`. */
function requestPath(instancePath: string): string {
  const path = instancePath
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
    .replace(/^\./, '');
  return path === '' ? 'body' : path;
}
