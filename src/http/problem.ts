import type { FieldErrors } from '../domain/field-errors.js';
import { type ProblemCode, problemCatalogue } from './problem-catalogue.js';

/** Ends a request with a problem; the error handler renders it. It carries words of ours alone. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: FieldErrors | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ProblemCode, errors?: FieldErrors, retryAfterMs?: number) {
    super(code);
    this.name = 'Problem';
    this.code = code;
    this.errors = errors;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The body of a problem (RFC 9457), as JSON text. */
export function problemBody(code: ProblemCode, traceId: string, errors?: FieldErrors): string {
  const { status, title, detail } = problemCatalogue[code];
  const type = `/errors/${code}`;
  return JSON.stringify({ type, title, status, detail, instance: `urn:trace:${traceId}`, code, errors });
}
