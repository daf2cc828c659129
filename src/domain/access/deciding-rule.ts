import type { AccessRule } from './access-rule.js';
import type { TokenPermission } from './permission.js';

/**
 * The rule that decides one permission on a token: of those that grant it and whose container covers one of the token's,
 * the one with the lowest priority, the earlier of equal ones. null: refused. Contract, section 4.
 */
export function decidingRule(
  rules: readonly AccessRule[],
  permission: TokenPermission,
  containers: readonly string[],
): AccessRule | null {
  let deciding: AccessRule | null = null;
  for (const rule of rules) {
    if (deciding !== null && deciding.priority <= rule.priority) continue;
    if (rule.permissions.includes(permission) && containers.some((path) => covers(rule.container, path))) {
      deciding = rule;
    }
  }
  return deciding;
}

/** A parent covers its children and itself. Both paths end with `/`, so that `/pci/` does not cover `/pci-old/`. */
function covers(parent: string, path: string): boolean {
  return path.startsWith(parent);
}
