import type { AccessRule } from './access-rule.js';
import type { Caller } from './caller.js';
import type { Permission, TokenPermission } from './permission.js';
import { coversReach, reachOf } from './reach.js';
import { strictest, type Transform } from './transform.js';

/**
 * Returns whether the caller has a permission on any container. If not, the request returns 403 without reading
 * anything.
 */
export function grantsAnywhere({ access }: Caller, permission: Permission): boolean {
  if (access.kind === 'permissions') return access.permissions.has(permission);
  return access.rules.some((rule) => rule.permissions.some((granted) => granted === permission));
}

/**
 * Returns how the caller sees a token in these containers under this permission. Returns null if the caller lacks the
 * permission; a request for the token then returns 403, and lists omit the token. For updates that change containers,
 * see `decideMove`; for creations, see `transformForCreate`. See docs/contract.md, "Access rules".
 */
export function transformFor(
  subject: AccessSubject,
  permission: TokenPermission,
  containers: readonly string[],
): Transform | null {
  return decideAccess(subject, permission, containers).transform;
}

/** An application, saved or not yet saved. */
export type AccessSubject = Pick<Caller, 'access' | 'applicationType'>;

/**
 * The transform for a permission, and the rule that decides it. `rule` is null under plain permissions, or if no rule
 * grants the permission.
 */
export type AccessDecision = { readonly transform: Transform | null; readonly rule: AccessRule | null };

/** Like `transformFor`, but also returns the rule that decides. */
export function decideAccess(
  { access, applicationType }: AccessSubject,
  permission: TokenPermission,
  containers: readonly string[],
): AccessDecision {
  if (access.kind === 'rules') {
    const rule = decidingRule(access.rules, permission, containers);
    const transform = rule?.transform ?? null;
    // Threat: anyone may have the key of a public application, and `PATCH {}` returns the whole token.
    return { rule, transform: applicationType === 'public' && transform === 'reveal' ? 'mask' : transform };
  }
  if (!access.permissions.has(permission)) return { rule: null, transform: null };
  return { rule: null, transform: permission === 'token:use' ? 'reveal' : 'mask' };
}

/**
 * Decides the permission separately for each container, and returns the strictest transform. Returns null if any
 * container is denied or if there are no containers. See docs/contract.md, "Access rules".
 */
export function transformForEach(
  caller: Caller,
  permission: TokenPermission,
  containers: readonly string[],
): Transform | null {
  const [first, ...others] = containers.map((container) => transformFor(caller, permission, [container]));
  return others.reduce<Transform | null>(strictest, first ?? null);
}

/**
 * Returns how the caller sees a token that it creates in these containers, or null if it may not create the token. See
 * docs/contract.md, "Access rules".
 */
export function transformForCreate(caller: Caller, containers: readonly string[]): Transform | null {
  return transformForEach(caller, 'token:create', containers);
}

/**
 * Returns whether the caller may read every token on which it has `permission` in plaintext. If `permission` is null,
 * this applies to all of the tenant's tokens. Such a caller learns nothing from looking up values. Returns true only if
 * a single permission reveals all of these tokens, so a caller whose rules reveal only some containers does not
 * qualify. See docs/contract.md, "Operations routes".
 */
export function readsEveryValue(caller: Caller, permission: TokenPermission | null): boolean {
  if (caller.applicationType !== 'private') return false;
  const reach = permission === null ? 'everything' : reachOf(caller, permission);
  return revealingPermissions.some(
    (revealing) => revealsWherever(caller, revealing) && coversReach(reachOf(caller, revealing), reach),
  );
}

const revealingPermissions = ['token:read', 'token:search', 'token:use'] as const;

/** Returns whether every token that these rules cover is revealed under this permission. */
function revealsWherever({ access }: Caller, permission: TokenPermission): boolean {
  if (access.kind === 'permissions') return permission === 'token:use';
  const granting = access.rules.filter(({ permissions }) => permissions.includes(permission));
  // A rule that does not decide in its own container never decides, because a rule that takes precedence covers the
  // whole container.
  const deciding = granting.filter((rule) => decidingRule(granting, permission, [rule.container]) === rule);
  return deciding.every(({ transform }) => transform === 'reveal');
}

/**
 * Returns whether the caller may see a token in these containers in plaintext and may therefore change its expressions
 * (docs/contract.md, "Changing expressions"). Always false for a public application. Threat: a mask or a search index
 * is a program over the data, so a caller that can write one could read the data through it.
 */
export function maySeeClear(caller: Caller, containers: readonly string[]): boolean {
  if (caller.applicationType !== 'private') return false;
  return (
    transformFor(caller, 'token:read', containers) === 'reveal' ||
    transformFor(caller, 'token:use', containers) === 'reveal'
  );
}

/**
 * Returns the rule that decides a permission on a token. Among the rules that grant the permission and cover one of the
 * token's containers, this is the first rule with the lowest priority. Returns null if there is no such rule. See
 * docs/contract.md, "Access rules".
 */
function decidingRule(
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

/**
 * Returns whether a container is the parent itself or one of its children. Both paths end with `/`, so `/pci/` does not
 * cover `/pci-old/`.
 */
function covers(parent: string, path: string): boolean {
  return path.startsWith(parent);
}
