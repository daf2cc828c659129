import { type Checked, errorsOf, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';

const containersMax = 10;

/**
 * Returns a token's containers in their stored form: lower case, without duplicates, in request order. Duplicates do
 * not count toward the limit of 10. The calling function supplies the default for an absent or null field. See
 * docs/contract.md, "Containers".
 */
export function checkContainers(value: Json): Checked<readonly string[]> {
  if (!Array.isArray(value)) return invalid('containers', 'must be an array of container paths');
  const items: readonly Json[] = value;
  const containers = new Set<string>();
  const failures: Checked<never>[] = [];
  for (const [i, item] of items.entries()) {
    const container = checkContainer(item, `containers[${i}]`);
    if (container.ok) containers.add(container.value);
    else failures.push(container);
    if (containers.size > containersMax || failures.length > containersMax) break;
  }
  if (value.length === 0 || containers.size > containersMax) {
    failures.push(invalid('containers', `must contain 1 to ${containersMax} container paths`));
  }
  const errors = errorsOf(failures);
  return errors === null ? valid([...containers]) : { ok: false, errors };
}

const charactersMax = 200;
const shape = /^\/(?:[A-Za-z0-9_-]+\/)*$/;

/**
 * Returns one container path in its stored form: lower case, with `/` at both ends. See docs/contract.md, "Containers".
 */
export function checkContainer(value: Json | undefined, path: string): Checked<string> {
  if (value === undefined || value === null) return invalid(path, 'is required');
  if (typeof value !== 'string') return invalid(path, 'must be a string');
  if (value.length > charactersMax) return invalid(path, `must have at most ${charactersMax} characters`);
  if (shape.test(value)) return valid(value.toLowerCase());
  return invalid(path, 'must be a path such as /pci/high/: segments of letters, digits, _ and -, with / around each');
}
