import type { AccessRule } from './access-rule.js';
import type { Caller } from './caller.js';
import type { Permission, TokenPermission } from './permission.js';
import { coversReach, reachOf } from './reach.js';
import { strictest, type Transform } from './transform.js';

/**
 * Returns true if the caller has the permission on at least one container. Otherwise, the request fails with 403 before
 * anything is read.
 */
export function grantsAnywhere({ access }: Caller, permission: Permission): boolean {
  if (access.kind === 'permissions') return access.permissions.has(permission);
  return access.rules.some((rule) => rule.permissions.some((granted) => granted === permission));
}

/**
 * Returns the transform that a permission gives the caller for a token in these containers. Returns null if the caller
 * does not have the permission on the token. In that case, a request for the token returns 403, and lists omit the
 * token. For updates that change the containers, see `decideMove`. For new tokens, see `transformForCreate`. See
 * docs/contract.md, "Access rules".
 */
export function transformFor(
  subject: AccessSubject,
  permission: TokenPermission,
  containers: readonly string[],
): Transform | null {
  return decideAccess(subject, permission, containers).transform;
}

/** The application whose access is being decided. The application might not be stored yet. */
export type AccessSubject = Pick<Caller, 'access' | 'applicationType'>;

/**
 * The transform that a permission gives a caller, and the access rule that decides the permission. `rule` is null if
 * the application has plain permissions, or if no rule grants the permission.
 */
export type AccessDecision = { readonly transform: Transform | null; readonly rule: AccessRule | null };

/** Does the same as `transformFor`, but also returns the rule that decides the permission. */
export function decideAccess(
  { access, applicationType }: AccessSubject,
  permission: TokenPermission,
  containers: readonly string[],
): AccessDecision {
  if (access.kind === 'rules') {
    const rule = decidingRule(access.rules, permission, containers);
    const transform = rule?.transform ?? null;
    // Threat: anyone can obtain a public application's key, and could send `PATCH {}` with that key to read the whole
    // token.
    return { rule, transform: applicationType === 'public' && transform === 'reveal' ? 'mask' : transform };
  }
  if (!access.permissions.has(permission)) return { rule: null, transform: null };
  return { rule: null, transform: permission === 'token:use' ? 'reveal' : 'mask' };
}

/**
 * Decides the permission for each container separately, and returns the strictest of the transforms. Returns null if
 * there is at least one container on which the caller does not have the permission, or if there are no containers. See
 * docs/contract.md, "Access rules".
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
 * Returns the transform that applies when the caller creates a token in these containers, or null if the caller may not
 * create it. See docs/contract.md, "Access rules".
 */
export function transformForCreate(caller: Caller, containers: readonly string[]): Transform | null {
  return transformForEach(caller, 'token:create', containers);
}

/**
 * Returns true if the caller may read every token of the tenant. A deduplication tells such a caller nothing new. The
 * containers of a deleted token were erased with the token, so only such a caller is told that the token existed.
 */
export function readsEveryToken(caller: Caller): boolean {
  return transformFor(caller, 'token:read', ['/']) !== null;
}

/**
 * Returns true if the caller may see the plaintext of every token on which it has `permission`, or of every token of
 * the tenant if `permission` is null. Such a caller learns nothing new by looking up values. A single permission must
 * reveal all of these tokens. A caller that would have to combine several permissions does not qualify. See
 * docs/contract.md, "Guesses".
 */
export function readsEveryValue(caller: Caller, permission: TokenPermission | null): boolean {
  if (caller.applicationType !== 'private') return false;
  const reach = permission === null ? 'everything' : reachOf(caller, permission);
  return revealingPermissions.some(
    (revealing) => revealsWherever(caller, revealing) && coversReach(reachOf(caller, revealing), reach),
  );
}

const revealingPermissions = ['token:read', 'token:search', 'token:use'] as const;

/** Returns whether the permission reveals every token on which the caller has it. */
function revealsWherever({ access }: Caller, permission: TokenPermission): boolean {
  if (access.kind === 'permissions') return permission === 'token:use';
  const granting = access.rules.filter(({ permissions }) => permissions.includes(permission));
  // Ignores rules that never decide the permission. If a rule is overridden even in its own container, by another rule
  // that covers the whole container, it never decides.
  const deciding = granting.filter((rule) => decidingRule(granting, permission, [rule.container]) === rule);
  return deciding.every(({ transform }) => transform === 'reveal');
}

/**
 * Returns whether the caller may see the plaintext of a token in these containers. Only such a caller may change the
 * token's expressions (docs/contract.md, "Changing expressions"). Returns false for every public application. Threat: a
 * mask or a search index is a program that reads the data. A caller that sees only masked data could write such a
 * program and learn the data from its results.
 */
export function maySeeClear(caller: Caller, containers: readonly string[]): boolean {
  if (caller.applicationType !== 'private') return false;
  return (
    transformFor(caller, 'token:read', containers) === 'reveal' ||
    transformFor(caller, 'token:use', containers) === 'reveal'
  );
}

/**
 * Returns the rule that decides a permission on a token. Only rules that grant the permission and cover at least one of
 * the token's containers are considered. Of these rules, the one with the lowest priority number decides. If several
 * rules have that number, the first of them decides. Returns null if there is no such rule. See docs/contract.md,
 * "Access rules".
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
 * Returns whether `path` is the parent container itself or a container below it. Both paths end with `/`, so `/pci/`
 * does not cover `/pci-old/`.
 */
function covers(parent: string, path: string): boolean {
  return path.startsWith(parent);
}
