import type { Permission } from '../../domain/access/permission.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import { type ProblemCode, problemCatalogue } from './problem-catalogue.js';

/** Ends a request with a problem; the error handler renders it. It carries words of ours alone. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: FieldErrors | undefined;
  readonly retryAfterMs: number | undefined;
  /** In place of the text that this kind of problem has. */
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

/** 403 of a caller that holds none of these anywhere. It names them: to have one granted is what helps. */
export function permissionMissing(sufficient: readonly Permission[]): Problem {
  const { detail } = problemCatalogue.permission_missing;
  return new Problem(
    'permission_missing',
    undefined,
    undefined,
    detail.replace(/\.$/, `: ${sufficient.join(' or ')}.`),
  );
}

/** The body of a problem (RFC 9457), as JSON text. */
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
