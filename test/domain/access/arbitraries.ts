import fc from 'fast-check';
import type { AccessRule } from '#src/domain/access/access-rule.js';
import type { Caller } from '#src/domain/access/caller.js';
import { type TokenPermission, tokenPermissions } from '#src/domain/access/permission.js';
import { transforms } from '#src/domain/access/transform.js';

/** Generates container paths. The paths are short and use few different names, so that rules often match containers. */
export const containerPath = fc
  .array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 3 })
  .map((segments) => `/${segments.map((segment) => `${segment}/`).join('')}`);

export const containerPaths = fc.uniqueArray(containerPath, { minLength: 1, maxLength: 4 });

export const accessRule: fc.Arbitrary<AccessRule> = fc.record({
  description: fc.constant(''),
  priority: fc.integer({ min: 1, max: 3 }),
  container: containerPath,
  transform: fc.constantFrom(...transforms),
  permissions: fc.uniqueArray(fc.constantFrom(...tokenPermissions), { minLength: 1 }),
});

export const accessRules = fc.array(accessRule, { minLength: 1, maxLength: 5 });

export function callerWith(...rules: readonly Partial<AccessRule>[]): Caller {
  return {
    ...anyone,
    access: {
      kind: 'rules',
      rules: rules.map((rule) => ({
        description: '',
        priority: 1,
        container: '/',
        transform: 'mask',
        permissions: tokenPermissions,
        ...rule,
      })),
    },
  };
}

export function callerHolding(...permissions: readonly TokenPermission[]): Caller {
  return { ...anyone, access: { kind: 'permissions', permissions: new Set(permissions) } };
}

const tenantSettings = {
  deduplicate_tokens: 'false',
  keep_superseded_data: 'false',
  show_fingerprints: 'false',
} as const;
const anyone = {
  tenantId: 't',
  applicationId: 'a',
  keyId: 'k',
  applicationType: 'private',
  tenantSettings,
} as const;
