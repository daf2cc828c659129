import type { Permission } from '../../domain/access/permission.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import { type ProblemCode, problemCatalogue } from './problem-catalogue.js';

/**
 * An error that ends a request with a problem, which the error handler renders. The problem contains only fixed text.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: FieldErrors | undefined;
  readonly retryAfterMs: number | undefined;
  /** Replaces the default detail for this kind of problem. */
  readonly detail: string | undefined;

  constructor(code: ProblemCode, errors?: FieldErrors, retryAfterMs?: number, detail?: string) {
    super(code);
    this.name = 'Problem';
    this.code = code;
    this.errors = errors;
    this.retryAfterMs = retryAfterMs;
    this.detail = detail;
  }
}

/**
 * Returns a 403 for a caller that holds none of these permissions on any container. The detail names the permissions,
 * because the caller needs only one of them.
 */
export function permissionMissing(sufficient: readonly Permission[]): Problem {
  const { detail } = problemCatalogue.permission_missing;
  return new Problem(
    'permission_missing',
    undefined,
    undefined,
    detail.replace(/\.$/, `: ${sufficient.join(' or ')}.`),
  );
}

/** Returns the body of a problem (RFC 9457) as JSON text. */
export function problemBody(
  code: ProblemCode,
  traceId: string,
  errors?: FieldErrors,
  detail = problemCatalogue[code].detail,
): string {
  const { status, title } = problemCatalogue[code];
  const type = `/errors/${code}`;
  return JSON.stringify({ type, title, status, detail, instance: `urn:trace:${traceId}`, code, errors });
}
