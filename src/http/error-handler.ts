import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { errorsOf, type FieldErrors, invalid } from '../domain/field-errors.js';
import { rightsCheck, StoreProblem } from '../ports/store-problem.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { ForgedRow } from '../vault/forged-row.js';
import { KeyLost } from '../vault/key-lost.js';
import { TenantGone } from '../vault/tenant-gone.js';
import type { RequestLog } from './logging/request-log.js';
import { Problem, type ProblemContent, problemBody } from './problem/problem.js';
import { type ProblemCode, problemCatalogue } from './problem/problem-catalogue.js';
import { challengesOf } from './server/authentication.js';
import { recordRefusedRequest } from './server/record-refused-request.js';
import type { Service } from './service.js';

/** The default for `Retry-After` in a 503 response, in ms. */
const retryAfterMsDefault = 1_000;

/**
 * Returns the value of `Retry-After` for a 429 or 503 response. Returns null for any other status, because waiting does
 * not help.
 */
export function retryAfterSeconds(status: number, retryAfterMs = retryAfterMsDefault): number | null {
  return status === 429 || status === 503 ? Math.max(1, Math.ceil(retryAfterMs / 1_000)) : null;
}

/** If a body is larger than allowed, but at most this large, the service reads and discards it. */
const discardedBytesMax = 16 * 1024 * 1024;

/**
 * Creates the handler that converts a thrown error to a response. For an unexpected error, the response contains only
 * the trace id of the request.
 */
export function createErrorHandler(
  { vault, reportError }: Pick<Service, 'vault' | 'reportError'>,
  log: Pick<RequestLog, 'error'>,
  acceptsBearer: boolean,
) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const problem = problemOf(error);
    const { code } = problem;
    const { status } = problemCatalogue[code];
    if (status >= 500) {
      reportError(error);
      log.error(error, request.traceId);
    }
    if (status === 401) reply.header('www-authenticate', challengesOf(request, acceptsBearer));
    // Fastify closes the connection after a body that is too large. A client that is still sending the body would often
    // see a failed connection instead of the response.
    if (code === 'body_too_large' && Number(request.headers['content-length']) <= discardedBytesMax) {
      reply.removeHeader('connection');
      request.raw.removeAllListeners('data').resume();
    }
    recordRefusedRequest(vault, request, status);
    sendProblem(reply, problem, request.traceId);
  };
}

/** Sends a problem as `application/problem+json`. A 429 or 503 response contains `Retry-After`. */
export function sendProblem(reply: FastifyReply, problem: ProblemContent, traceId: string): void {
  const { status } = problemCatalogue[problem.code];
  const seconds = retryAfterSeconds(status, problem.retryAfterMs);
  reply.request.problemCode = problem.code;
  if (seconds !== null) reply.header('retry-after', seconds);
  reply
    .code(status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(problemBody(problem, traceId));
}

/** Converts an error to a problem. An unexpected error becomes `internal`. */
export function problemOf(error: unknown): ProblemContent {
  if (error instanceof Problem) return error;
  if (error instanceof StoreUnavailable) return { code: 'store_unavailable' };
  // The operator can grant the missing right at any time, and a retry then succeeds.
  if (error instanceof StoreProblem && error.found?.check === rightsCheck) return { code: 'store_unavailable' };
  if (error instanceof TenantGone) return { code: 'unauthenticated' };
  if (error instanceof KeyLost) return { code: 'key_lost' };
  if (error instanceof ForgedRow) return { code: 'row_forged' };
  if (hasZodFastifySchemaValidationErrors(error)) {
    return { code: 'validation_failed', errors: schemaErrors(error.validation) };
  }
  return { code: codeOfLibraryError(error) };
}

/** Returns the problem code for an error that Fastify raised. */
function codeOfLibraryError(error: unknown): ProblemCode {
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 'body_too_large';
  if (statusCode === 415) return 'unsupported_media_type';
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? 'malformed_request' : 'internal';
}

/** The maximum number of faults in an error response. This limit keeps the response small. */
const schemaErrorsMax = 20;

type SchemaIssue = { readonly instancePath: string; readonly message?: string | undefined };

function schemaErrors(issues: readonly SchemaIssue[]): FieldErrors {
  const faults = issues
    .slice(0, schemaErrorsMax)
    .map(({ instancePath, message }) => invalid(requestPath(instancePath), message ?? 'is not valid'));
  return errorsOf(faults) ?? {};
}

/**
 * Converts a path such as `/search_indexes/0` to `search_indexes[0]`. Returns `body` if the fault concerns the whole
 * body.
 */
function requestPath(instancePath: string): string {
  const path = instancePath
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
    .replace(/^\./, '');
  return path === '' ? 'body' : path;
}
