import type { Permission } from '../../domain/access/permission.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import { type ProblemCode, problemCatalogue } from './problem-catalogue.js';

/**
 * An error that a request handler throws to respond with a problem. The error handler renders the problem, which
 * contains only fixed text.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: FieldErrors | undefined;
  readonly retryAfterMs: number | undefined;
  /** The detail to show instead of the default detail for this kind of problem. */
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
 * Returns Problem 403 for a caller that has none of these permissions. The detail lists all of them, because any one of
 * them is enough.
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
