import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { isJsonObject, type Json } from '../json.js';
import { codePointCount, isWellFormed } from '../text.js';
import { checkContainer } from '../token/fields/containers.js';
import type { Access, AccessRule } from './access-rule.js';
import type { ApplicationType } from './application-type.js';
import { type Permission, permissionsOfType, type TokenPermission } from './permission.js';
import { type Transform, transforms } from './transform.js';

/** The two request fields that specify an application's access. A field that is null counts as absent. */
export type AccessFields = { readonly permissions?: Json | undefined; readonly rules?: Json | undefined };

/**
 * Parses an application's access. The request must contain either `permissions` or `rules`, but not both, and the list
 * must not be empty. See docs/contract.md, "Applications".
 */
export function parseAccess(
  { permissions = null, rules = null }: AccessFields,
  applicationType: ApplicationType,
): Checked<Access> {
  if (permissions !== null && rules !== null) return invalid('rules', 'specify permissions or rules, not both');
  if (rules !== null) {
    const parsed = parseAccessRules(rules, applicationType);
    return parsed.ok ? valid({ kind: 'rules', rules: parsed.value }) : parsed;
  }
  if (permissions === null) return invalid('permissions', 'permissions or rules are required');
  const allowed: readonly Permission[] = permissionsOfType[applicationType];
  const parsed = parsePermissions(permissions, allowed, 'permissions');
  return parsed.ok ? valid({ kind: 'permissions', permissions: new Set(parsed.value) }) : parsed;
}

const permissionsMax = 50;

/**
 * Parses a list of 1 to 50 permissions, each of which must be in `allowed`. Removes duplicates. Errors are reported at
 * `path` and `path[i]`. See docs/contract.md, "Applications".
 */
function parsePermissions<P extends string>(
  value: Json | undefined,
  allowed: readonly P[],
  path: string,
): Checked<readonly P[]> {
  if (!Array.isArray(value)) return invalid(path, 'must be an array of permissions');
  if (value.length === 0 || value.length > permissionsMax) {
    return invalid(path, `must contain 1 to ${permissionsMax} permissions`);
  }
  const items: readonly Json[] = value;
  const permissions = new Set<P>();
  const failures: Checked<never>[] = [];
  for (const [i, item] of items.entries()) {
    const permission = allowed.find((candidate) => candidate === item);
    if (permission === undefined) {
      failures.push(
        invalid(`${path}[${i}]`, `must be a permission that this application may hold: ${allowed.join(', ')}`),
      );
    } else permissions.add(permission);
  }
  const errors = errorsOf(failures);
  return errors === null ? valid([...permissions]) : { ok: false, errors };
}

const rulesMax = 50;

/**
 * Parses an application's 1 to 50 access rules, in request order. Errors are reported at `rules`, `rules[0].container`
 * and so on. A management application cannot have rules, because it has no token permissions. See docs/contract.md,
 * "Access rules" and "Application types".
 */
function parseAccessRules(value: Json, applicationType: ApplicationType): Checked<readonly AccessRule[]> {
  if (applicationType === 'management')
    return invalid('rules', 'a management application takes permissions, not rules');
  if (!Array.isArray(value)) return invalid('rules', 'must be an array of access rules');
  if (value.length === 0 || value.length > rulesMax)
    return invalid('rules', `must contain 1 to ${rulesMax} access rules`);
  const items: readonly Json[] = value;
  const rules: AccessRule[] = [];
  const failures: Checked<never>[] = [];
  for (const [i, item] of items.entries()) {
    const rule = parseAccessRule(item, `rules[${i}]`, applicationType);
    if (rule.ok) rules.push(rule.value);
    else failures.push(rule);
  }
  const errors = errorsOf(failures);
  return errors === null ? valid(rules) : { ok: false, errors };
}

const descriptionCharactersMax = 200;
const fields: ReadonlySet<string> = new Set(['description', 'priority', 'container', 'transform', 'permissions']);

/**
 * Parses one access rule. `container`, `transform` and `permissions` are required. The default `priority` is 1, and the
 * default `description` is empty. Rejects unknown fields. Threat: an administrator writes an unknown field as a
 * condition that narrows the rule. If Strongroom ignored the field, the rule would grant more than the administrator
 * intended. See docs/contract.md, "Access rules".
 */
function parseAccessRule(
  value: Json,
  path: string,
  applicationType: Exclude<ApplicationType, 'management'>,
): Checked<AccessRule> {
  if (!isJsonObject(value)) return invalid(path, 'must be an access rule object');
  const unknown = Object.keys(value).some((key) => !fields.has(key) && value[key] !== null);
  const known = unknown ? invalid(path, `may only have ${[...fields].join(', ')}`) : valid(null);
  const allowed: readonly TokenPermission[] = permissionsOfType[applicationType];
  const description = parseDescription(value['description'], `${path}.description`);
  const priority = parsePriority(value['priority'], `${path}.priority`);
  const container = checkContainer(value['container'], `${path}.container`);
  const transform = parseTransform(value['transform'], `${path}.transform`, applicationType);
  const permissions = parsePermissions(value['permissions'], allowed, `${path}.permissions`);
  if (!(known.ok && description.ok && priority.ok && container.ok && transform.ok && permissions.ok)) {
    const errors = errorsOf([known, description, priority, container, transform, permissions]);
    return { ok: false, errors: errors ?? {} };
  }
  return valid({
    description: description.value,
    priority: priority.value,
    container: container.value,
    transform: transform.value,
    permissions: permissions.value,
  });
}

function parseDescription(value: Json | undefined, path: string): Checked<string> {
  if (value === undefined || value === null) return valid('');
  const fits = typeof value === 'string' && codePointCount(value) <= descriptionCharactersMax && isWellFormed(value);
  return fits ? valid(value) : invalid(path, `must be a string of at most ${descriptionCharactersMax} characters`);
}

function parsePriority(value: Json | undefined, path: string): Checked<number> {
  if (value === undefined || value === null) return valid(1);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return valid(value);
  return invalid(path, `must be a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`);
}

/**
 * Parses a rule's transform. A public application cannot have `reveal`, because anyone can obtain its key. See
 * docs/contract.md, "Applications".
 */
function parseTransform(value: Json | undefined, path: string, applicationType: ApplicationType): Checked<Transform> {
  const allowed = applicationType === 'public' ? transforms.filter((transform) => transform !== 'reveal') : transforms;
  const transform = allowed.find((candidate) => candidate === value);
  return transform === undefined ? invalid(path, `must be one of ${allowed.join(', ')}`) : valid(transform);
}
