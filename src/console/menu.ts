import type { Caller } from '../domain/access/caller.js';
import { grantsAnywhere } from '../domain/access/decide-access.js';
import type { Permission } from '../domain/access/permission.js';
import type { ConsolePage, ConsoleRoute, MenuGroup } from './page.js';
import type { SignedIn } from './sessions.js';

type MenuItem = { readonly label: string; readonly path: string; readonly isCurrent: boolean };

/** The navigation: groups of links to the pages that the session may open. */
export type Menu = readonly { readonly label: MenuGroup; readonly items: readonly MenuItem[] }[];

const groups: readonly MenuGroup[] = ['Vault', 'Access', 'Evidence', 'Operations'];

/** Returns the navigation for a session. `path` is the path of the current page. */
export function menuOf(pages: readonly ConsolePage[], session: SignedIn, path: string): Menu {
  return groups.flatMap((label) => {
    const items = pages.flatMap(({ menu, routes: [first] }): MenuItem[] => {
      if (menu?.group !== label || !opens(session, first)) return [];
      const isCurrent = path === first.path || (first.path !== '/' && path.startsWith(`${first.path}/`));
      return [{ label: menu.label, path: first.path, isCurrent }];
    });
    return items.length === 0 ? [] : [{ label, items }];
  });
}

function opens(session: SignedIn, route: ConsoleRoute): boolean {
  const { session: needs } = route;
  if (needs === 'none' || needs === 'any') return true;
  return needs === 'operator' ? session.isOperator : callerFor(session, route).kind === 'caller';
}

/**
 * The caller for a route that needs an application. `missing_key` and `missing_permission` are the reasons why there is
 * no such caller.
 */
export type CallerFound =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'missing_key' }
  | { readonly kind: 'missing_permission'; readonly caller: Caller };

/** Returns the caller for a route: the session's first application that may open the route. */
export function callerFor(
  session: SignedIn,
  { session: needs, permission }: Pick<ConsoleRoute, 'session' | 'permission'>,
): CallerFound {
  const kinds = needs === 'private' || needs === 'management' ? [needs] : Array.isArray(needs) ? needs : [];
  const callers = (kinds as readonly ('private' | 'management')[]).flatMap((kind) => session[kind] ?? []);
  const sufficient = permissionsOf(permission);
  const found = callers.find(
    (caller) => sufficient.length === 0 || sufficient.some((one) => grantsAnywhere(caller, one)),
  );
  if (found !== undefined) return { kind: 'caller', caller: found };
  const [first] = callers;
  return first === undefined ? { kind: 'missing_key' } : { kind: 'missing_permission', caller: first };
}

export function permissionsOf(permission: ConsoleRoute['permission']): readonly Permission[] {
  if (permission === undefined) return [];
  return typeof permission === 'string' ? [permission] : permission;
}
