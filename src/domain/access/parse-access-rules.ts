import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import type { Json } from '../json.js';
import type { AccessRule } from './access-rule.js';
import type { ApplicationType } from './application-type.js';
import { parseAccessRule } from './parse-access-rule.js';

const rulesMax = 50;

/**
 * The access rules of an application, 1 to 50, in the order given; errors are at `rules`, `rules[0].container` and so
 * on. A management application has no token permissions, hence no rules. Contract, sections 4 and 10.
 */
export function parseAccessRules(value: Json, applicationType: ApplicationType): Checked<readonly AccessRule[]> {
  if (applicationType === 'management')
    return invalid('rules', 'a management application takes permissions, not rules');
  if (!Array.isArray(value)) return invalid('rules', 'must be an array of access rules');
  if (value.length === 0 || value.length > rulesMax) return invalid('rules', `must hold 1 to ${rulesMax} access rules`);
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
