import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';

const charactersMax = 200;
const shape = /^\/(?:[A-Za-z0-9_-]+\/)*$/;

/** One container path in its stored form: lower case, starting and ending with `/`. Contract, section 3. */
export function checkContainer(value: Json | undefined, path: string): Checked<string> {
  if (value === undefined || value === null) return invalid(path, 'is required');
  if (typeof value !== 'string') return invalid(path, 'must be a string');
  if (value.length > charactersMax) return invalid(path, `must have at most ${charactersMax} characters`);
  if (shape.test(value)) return valid(value.toLowerCase());
  return invalid(path, 'must be a path such as /pci/high/: segments of letters, digits, _ and -, with / around each');
}
