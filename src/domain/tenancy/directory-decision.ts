import type { FieldErrors } from '../field-errors.js';
import type { DirectoryFact } from './directory-fact.js';

/** The reason why a command is rejected. */
export type DirectoryRejection =
  /** The caller's application was deleted or has expired, or its key was revoked. */
  | 'unauthenticated'
  | 'permission_missing'
  | 'exceeds_own_permissions'
  | 'application_not_found'
  | 'application_key_not_found'
  | 'tenant_not_found'
  | 'last_administrator'
  | 'too_many_keys'
  | 'webhook_not_found'
  | 'too_many_webhooks'
  /** The webhook was changed after the caller last saw it. */
  | 'precondition_failed'
  | 'validation_failed';

export type DirectoryDecided =
  /** `facts` is empty if nothing changes. */
  | { readonly ok: true; readonly facts: readonly DirectoryFact[] }
  | { readonly ok: false; readonly code: DirectoryRejection; readonly errors?: FieldErrors };

export function decided(...facts: readonly DirectoryFact[]): DirectoryDecided {
  return { ok: true, facts };
}

export function refused(code: Exclude<DirectoryRejection, 'validation_failed'>): DirectoryDecided {
  return { ok: false, code };
}

export function refusedFields(errors: FieldErrors): DirectoryDecided {
  return { ok: false, code: 'validation_failed', errors };
}
