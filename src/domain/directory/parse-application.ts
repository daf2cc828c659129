import type { ApplicationType } from '../access/application-type.js';
import { type AccessFields, parseAccess } from '../access/parse-access.js';
import { type Checked, errorsOf, valid } from '../field-errors.js';
import { checkExpiresAt } from '../token/fields/expires-at.js';
import { documentOf } from './access-document.js';
import type { ApplicationSpec } from './application-spec.js';
import { parseName } from './parse-name.js';

/** The fields of a request to make an application, by their JSON types. */
export type ApplicationFields = AccessFields & {
  readonly name: string;
  readonly type: ApplicationType;
  readonly expires_at?: string | null | undefined;
};

/** An application that is to be made; `now` is the instant that its expiry must lie after. Contract, section 10. */
export function parseApplication(fields: ApplicationFields, now: number): Checked<ApplicationSpec> {
  const name = parseName(fields.name);
  const access = parseAccess(fields, fields.type);
  const expiresAt = checkExpiresAt(fields.expires_at ?? null, now);
  if (!(name.ok && access.ok && expiresAt.ok)) {
    return { ok: false, errors: errorsOf([name, access, expiresAt]) ?? {} };
  }
  const spec = { name: name.value, type: fields.type, access: documentOf(access.value), expiresAt: expiresAt.value };
  return valid(spec);
}
