import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { isJsonObject, type Json } from '../json.js';
import { codePointCount, isWellFormed } from '../text.js';
import { checkContainer } from '../token/fields/container.js';
import type { AccessRule } from './access-rule.js';
import type { ApplicationType } from './application-type.js';
import { parsePermissions } from './parse-permissions.js';
import { permissionsOfType, type TokenPermission } from './permission.js';
import { type Transform, transforms } from './transform.js';

const descriptionCharactersMax = 200;
const fields: ReadonlySet<string> = new Set(['description', 'priority', 'container', 'transform', 'permissions']);

/**
 * One access rule; `container`, `transform` and `permissions` are required, `priority` is 1 and `description` empty by
 * default. Threat: a field that we do not know could be a condition that narrows the rule elsewhere; to ignore it would
 * grant more than was meant, so it is refused. Contract, sections 4 and 10.
 */
export function parseAccessRule(
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
  return invalid(path, 'must be an integer');
}

/** A public application never reveals: anyone may hold its key. Contract, section 10. */
function parseTransform(value: Json | undefined, path: string, applicationType: ApplicationType): Checked<Transform> {
  const allowed = applicationType === 'public' ? transforms.filter((transform) => transform !== 'reveal') : transforms;
  const transform = allowed.find((candidate) => candidate === value);
  return transform === undefined ? invalid(path, `must be one of ${allowed.join(', ')}`) : valid(transform);
}
