import type { FieldErrors } from '../domain/field-errors.js';
import type { DirectoryRejection } from '../domain/tenancy/directory-decision.js';

/** The reason why a command was rejected. `http/problem/problem-catalogue.ts` maps each code to an HTTP status. */
export type RejectionCode =
  | 'validation_failed'
  | 'forbidden'
  | 'reveal_required'
  | 'token_not_found'
  | 'id_in_use'
  | 'precondition_failed'
  | 'idempotency_in_flight'
  | 'idempotent_shape_differs'
  | 'idempotent_result_gone'
  | 'guesses_exhausted'
  | 'deduplication_misses_exhausted'
  | DirectoryRejection;

export type Rejected = {
  readonly ok: false;
  readonly code: RejectionCode;
  readonly errors?: FieldErrors;
  /** The time, in ms from now, after which the same request can succeed. */
  readonly retryAfterMs?: number;
};

export type CommandResult<T> = { readonly ok: true; readonly value: T } | Rejected;

export function done<T>(value: T): CommandResult<T> {
  return { ok: true, value };
}

export function rejected(code: RejectionCode): Rejected {
  return { ok: false, code };
}

export function invalidFields(errors: FieldErrors): Rejected {
  return { ok: false, code: 'validation_failed', errors };
}
