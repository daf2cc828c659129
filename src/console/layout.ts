import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../domain/access/caller.js';
import { cookieNames, sessionOf, themeOf } from './cookies.js';
import type { ConsolePage, Flash, MenuGroup, Model, PageOptions } from './page.js';
import { isCrossSite } from './return-address.js';
import { opens } from './route-access.js';
import type { SignedIn } from './sessions.js';

type Options = Omit<PageOptions, 'flash'> & { readonly flash: Flash | null };

/** Renders a template within the layout and returns the HTML. */
export type Layout = (
  request: FastifyRequest,
  reply: FastifyReply,
  view: string,
  model: Model,
  options: Options,
) => Promise<string>;

/** Creates the function that renders console pages. Templates read the layout's fields from `page`. */
export function createLayout(pages: readonly ConsolePage[], assets: string): Layout {
  return async (request, reply, view, model, { title, flash, isRunning = false, status = 200 }) => {
    const { signedIn } = request;
    const path = request.url.split('?', 1)[0] ?? '/';
    const page = {
      title,
      // The page is a form again, with its errors. A problem page says so in its title.
      isError: status >= 400,
      path,
      // The address that shows this page again. The response to a form has none, and the end of a sign-in with an
      // identity provider has none either.
      address: request.method === 'GET' && (signedIn !== null || path === '/sign-in') ? request.url : null,
      assets,
      flash,
      // Only the response to a GET is reloaded, because reloading the response to a form would submit the form again.
      reloads: isRunning && request.method === 'GET',
      theme: themeOf(request.cookies),
      csrf: mayReplaceToken(request) ? '' : reply.generateCsrf({ userInfo: sessionOf(request.cookies) }),
      menu: signedIn === null ? [] : menuOf(pages, signedIn, path),
      person:
        signedIn === null
          ? null
          : {
              name: signedIn.name,
              issuer: signedIn.issuer,
              opens: [
                ...(signedIn.private === null ? [] : [nameOf('Private', signedIn.private)]),
                ...(signedIn.management === null ? [] : [nameOf('Management', signedIn.management)]),
                ...(signedIn.isOperator ? ['Operator'] : []),
              ],
            },
    };
    return reply.viewAsync(view, { ...model, page });
  };
}

/**
 * Returns true if a new form token could replace that of the person's other tabs. Threat: a link of another site leads
 * to an address that does not exist. The browser sends no cookies, so the forms in the other tabs would be rejected. The
 * page gets no form token instead, and its only form changes the theme.
 */
function mayReplaceToken(request: FastifyRequest): boolean {
  return isCrossSite(request) && request.cookies[cookieNames.csrf] === undefined;
}

/**
 * Returns the name that the console shows for an application of the session. A session whose access comes from groups
 * has no API key.
 */
function nameOf(kind: 'Private' | 'Management', { keyId }: Caller): string {
  return keyId === null ? `${kind} application` : `${kind} key`;
}

type MenuItem = { readonly label: string; readonly path: string; readonly isCurrent: boolean };

/** The navigation. Each group contains links to the pages that the session may access. */
type Menu = readonly { readonly label: MenuGroup; readonly items: readonly MenuItem[] }[];

const groups: readonly MenuGroup[] = ['Vault', 'Access', 'Audit', 'Operations'];

/** Returns the navigation for a session. `path` is the path of the current page. */
function menuOf(pages: readonly ConsolePage[], session: SignedIn, path: string): Menu {
  return groups.flatMap((label) => {
    const items = pages.flatMap(({ menu, routes: [first] }): MenuItem[] => {
      if (menu?.group !== label || !opens(session, first)) return [];
      const isCurrent =
        path === first.path || path === menu.also || (first.path !== '/' && path.startsWith(`${first.path}/`));
      return [{ label: menu.label, path: first.path, isCurrent }];
    });
    return items.length === 0 ? [] : [{ label, items }];
  });
}
