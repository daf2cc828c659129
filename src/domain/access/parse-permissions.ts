import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import type { Json } from '../json.js';

const permissionsMax = 50;

/**
 * A list of permissions, 1 to 50, each one of `allowed`; repeats collapse. Errors are at `path` and `path[i]`. Contract,
 * section 10.
 */
export function parsePermissions<P extends string>(
  value: Json | undefined,
  allowed: readonly P[],
  path: string,
): Checked<readonly P[]> {
  if (!Array.isArray(value)) return invalid(path, 'must be an array of permissions');
  if (value.length === 0 || value.length > permissionsMax) {
    return invalid(path, `must hold 1 to ${permissionsMax} permissions`);
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
