import type { ConsoleRoute } from './page.js';

/**
 * Returns a route that redirects a form to the page at the same path. When a page shows a value or a secret, the script
 * replaces the page's address with the path of another page. WebKit (Safari) keeps the method and the form, so a reload
 * posts the form to that path.
 */
export function resentFormRoute(shown: Pick<ConsoleRoute, 'path' | 'session' | 'permission'>): ConsoleRoute {
  return { ...shown, method: 'POST', handle: async (visit) => visit.redirect(visit.request.url) };
}
