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

/** The most permissions that an application or a rule can have, and the most rules that an application can have. */
const itemsMax = 50;

/** The field that specifies the access, and its items, which have not been checked. */
type GivenAccess = { readonly kind: Access['kind']; readonly items: readonly Json[] };

/**
 * Checks that the request contains either `permissions` or `rules`, but not both, as a list of 1 to 50 items. Which items
 * are allowed depends on the application's type (`parseAccess`). See docs/contract.md, "Applications".
 */
export function checkAccessFields({ permissions = null, rules = null }: AccessFields): Checked<GivenAccess> {
  if (permissions !== null && rules !== null) return invalid('rules', 'specify permissions or rules, not both');
  if (permissions === null && rules === null) return invalid('permissions', 'permissions or rules are required');
  const kind = rules === null ? 'permissions' : 'rules';
  const items = kind === 'rules' ? checkItems(rules, kind, 'access rules') : checkItems(permissions, kind, kind);
  return items.ok ? valid({ kind, items: items.value }) : items;
}

function checkItems(value: Json | undefined, path: string, noun: string): Checked<readonly Json[]> {
  if (!Array.isArray(value)) return invalid(path, `must be an array of ${noun}`);
  if (value.length === 0 || value.length > itemsMax) return invalid(path, `must contain 1 to ${itemsMax} ${noun}`);
  return valid(value);
}

/**
 * Parses an application's access. Besides `checkAccessFields`, each item must be one that the application's type
 * allows. See docs/contract.md, "Applications".
 */
export function parseAccess(fields: AccessFields, applicationType: ApplicationType): Checked<Access> {
  const given = checkAccessFields(fields);
  if (!given.ok) return given;
  const { kind, items } = given.value;
  if (kind === 'rules') {
    const parsed = parseAccessRules(items, applicationType);
    return parsed.ok ? valid({ kind, rules: parsed.value }) : parsed;
  }
  const allowed: readonly Permission[] = permissionsOfType[applicationType];
  const parsed = parsePermissions(items, allowed, 'permissions');
  return parsed.ok ? valid({ kind, permissions: new Set(parsed.value) }) : parsed;
}

/** Parses permissions, each of which must be in `allowed`. Removes duplicates. Errors are reported at `path[i]`. */
function parsePermissions<P extends string>(
  items: readonly Json[],
  allowed: readonly P[],
  path: string,
): Checked<readonly P[]> {
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

/**
 * Parses an application's access rules, in request order. Errors are reported at `rules`, `rules[0].container` and so
 * on. A management application cannot have rules, because it has no token permissions. See docs/contract.md,
 * "Access rules" and "Application types".
 */
function parseAccessRules(items: readonly Json[], applicationType: ApplicationType): Checked<readonly AccessRule[]> {
  if (applicationType === 'management')
    return invalid('rules', 'a management application takes permissions, not rules');
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
  const items = checkItems(value['permissions'], `${path}.permissions`, 'permissions');
  const permissions = items.ok ? parsePermissions(items.value, allowed, `${path}.permissions`) : items;
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
