import type { Caller } from '../domain/access/caller.js';
import { grantsAnywhere } from '../domain/access/decide-access.js';
import { type Permission, permissionCatalogue } from '../domain/access/permission.js';
import { permissionMissing } from '../http/problem/problem.js';
import { permissionsOf } from '../http/request-state.js';
import type { ConsoleRoute, Needs, Visit } from './page.js';
import type { SignedIn } from './sessions.js';

/** Returns true if the session may open the route. */
export function opens(session: SignedIn, route: ConsoleRoute): boolean {
  const { session: needs } = route;
  if (needs === 'none' || needs === 'any') return true;
  return needs === 'operator' ? session.isOperator : callerFor(session, route).kind === 'caller';
}

/**
 * The caller for a route that requires an application. If the session has no such caller, `missing_key` or
 * `missing_permission` is the reason.
 */
type CallerFound =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'missing_key' }
  | { readonly kind: 'missing_permission'; readonly caller: Caller };

/** Returns the caller for a route: the session's first application that may access the route. */
export function callerFor(
  session: SignedIn,
  { session: needs, permission }: Pick<ConsoleRoute, 'session' | 'permission'>,
): CallerFound {
  const callers = kindsOf(needs).flatMap((kind) => session[kind] ?? []);
  const sufficient = permissionsOf(permission);
  const found = callers.find(
    (caller) => sufficient.length === 0 || sufficient.some((one) => grantsAnywhere(caller, one)),
  );
  if (found !== undefined) return { kind: 'caller', caller: found };
  const [first] = callers;
  return first === undefined ? { kind: 'missing_key' } : { kind: 'missing_permission', caller: first };
}

/** Returns true if the route accepts a kind of key that the session does not have. */
export function lacksKind(session: SignedIn, { session: needs, permission }: ConsoleRoute): boolean {
  return holdersOf(needs, permission).some((kind) => session[kind] === null);
}

/** Describes the keys that give access to an application route. */
export function requirementOf({ session: needs, permission }: ConsoleRoute): string {
  const keys = holdersOf(needs, permission).map((kind) => `the key of a ${kind} application`);
  const permissions = permissionsOf(permission);
  const granted = permissions.length === 0 ? '' : ` with the permission ${permissions.join(' or ')}`;
  return `This page requires ${keys.join(' or ')}${granted}.`;
}

/** Returns the kinds of application that can hold at least one of the permissions accepted by the route. */
function holdersOf(needs: Needs, permission: ConsoleRoute['permission']): readonly ApplicationKind[] {
  const sufficient = permissionsOf(permission);
  return kindsOf(needs).filter(
    (kind) =>
      sufficient.length === 0 ||
      permissionCatalogue.some(
        ({ type, application_types: types }) => sufficient.includes(type) && types.includes(kind),
      ),
  );
}

type ApplicationKind = 'private' | 'management';

function kindsOf(needs: Needs): readonly ApplicationKind[] {
  if (needs === 'private' || needs === 'management') return [needs];
  return typeof needs === 'string' ? [] : needs;
}

/**
 * Throws Problem 403 if the caller does not have the permission. Use it for a permission that is required in addition
 * to the page's permission.
 */
export function requirePermission({ caller }: Pick<Visit, 'caller'>, permission: Permission): void {
  if (!grantsAnywhere(caller, permission)) throw permissionMissing([permission]);
}
