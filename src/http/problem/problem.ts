import type { Permission } from '../../domain/access/permission.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import type { Rejected } from '../../vault/result.js';
import { type ProblemCode, problemCatalogue } from './problem-catalogue.js';

/** The fields that two problems with the same code can differ in. */
type ProblemFields = {
  readonly errors?: FieldErrors | undefined;
  readonly retryAfterMs?: number | undefined;
  /** What happened, instead of the text for this kind of problem. The advice for the kind follows it. */
  readonly detail?: string | undefined;
};

export type ProblemContent = ProblemFields & { readonly code: ProblemCode };

/**
 * An error that a request handler throws to respond with a problem. The error handler renders the problem, which
 * contains only fixed text.
 */
export class Problem extends Error implements ProblemContent {
  readonly code: ProblemCode;
  readonly errors: FieldErrors | undefined;
  readonly retryAfterMs: number | undefined;
  readonly detail: string | undefined;

  constructor(code: ProblemCode, { errors, retryAfterMs, detail }: ProblemFields = {}) {
    super(code);
    this.name = 'Problem';
    this.code = code;
    this.errors = errors;
    this.retryAfterMs = retryAfterMs;
    this.detail = detail;
  }
}

/** Converts a command's rejection to a problem. */
export function problemFrom({ code, errors, retryAfterMs }: Rejected): Problem {
  return new Problem(code, { errors, retryAfterMs });
}

/**
 * Returns Problem 403 for a caller that has none of these permissions. The detail lists all of them, because any one of
 * them is enough.
 */
export function permissionMissing(sufficient: readonly Permission[]): Problem {
  const { detail } = problemCatalogue.permission_missing;
  return new Problem('permission_missing', { detail: detail.replace(/\.$/, `: ${sufficient.join(' or ')}.`) });
}

const overloadedRetryAfterMs = 2_000;

/** Returns Problem 503 for a request that the service cannot run at the moment. */
export function overloaded(): Problem {
  return new Problem('overloaded', { retryAfterMs: overloadedRetryAfterMs });
}

/** Returns the body of a problem (RFC 9457) as JSON text. */
export function problemBody({ code, errors, detail }: ProblemContent, traceId: string): string {
  const { status, title, detail: usual, advice } = problemCatalogue[code];
  const type = `/errors/${code}`;
  const instance = `urn:trace:${traceId}`;
  return JSON.stringify({ type, title, status, detail: `${detail ?? usual} ${advice}`, instance, code, errors });
}
