import { type Checked, invalid, valid } from '../field-errors.js';
import type { Json } from '../json.js';
import type { Access } from './access.js';
import type { ApplicationType } from './application-type.js';
import { parseAccessRules } from './parse-access-rules.js';
import { parsePermissions } from './parse-permissions.js';
import { type Permission, permissionsOfType } from './permission.js';

/** The two fields of a request that say what an application may do; null counts as absent. */
export type AccessFields = { readonly permissions?: Json | undefined; readonly rules?: Json | undefined };

/** What an application may do: `permissions` or `rules`, one of the two, not empty. Contract, section 10. */
export function parseAccess(
  { permissions = null, rules = null }: AccessFields,
  applicationType: ApplicationType,
): Checked<Access> {
  if (permissions !== null && rules !== null) return invalid('rules', 'give permissions or rules, not both');
  if (rules !== null) {
    const parsed = parseAccessRules(rules, applicationType);
    return parsed.ok ? valid({ kind: 'rules', rules: parsed.value }) : parsed;
  }
  if (permissions === null) return invalid('permissions', 'permissions or rules are required');
  const allowed: readonly Permission[] = permissionsOfType[applicationType];
  const parsed = parsePermissions(permissions, allowed, 'permissions');
  return parsed.ok ? valid({ kind: 'permissions', permissions: new Set(parsed.value) }) : parsed;
}
