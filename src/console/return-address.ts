import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieNames, laxCookieOptions } from './cookies.js';

/**
 * Matches the address of a page of this console, and no address at a different site, such as `//example.com`. Allows
 * only characters that a header may contain, because a redirect contains the address. Browsers encode all others.
 */
export const ownAddress = /^\/(?![/\\])[!"$-~]*$/;

/** The maximum length of an address in the cookie. Encoded, the address is up to three times as long. */
const addressMax = 1_000;

/** Returns true if a link or form of another site led to this request. */
export function isCrossSite({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'cross-site';
}

/**
 * Returns the address of the page that a request came from, or of the page that it asked for. An action and a download
 * have the path of their page, or a path directly below it.
 */
export function pageAddress(request: FastifyRequest): string {
  const { consoleRoute: route } = request.routeOptions.config;
  const [path = '/'] = request.url.split('?', 1);
  if (route === undefined) return '/';
  if (route.method === 'GET' && route.isFile !== true) return request.url.length <= addressMax ? request.url : path;
  const isPage = route.isFile !== true && request.server.hasRoute({ method: 'GET', url: route.path });
  return isPage ? path : path.replace(/\/[^/]*$/, '') || '/';
}

/**
 * Leaves the page that the person sees after the next sign-in. If its address is too long, the person sees the overview.
 * Threat: another site has a link that determines this page. After a request from another site, the person therefore
 * sees the overview too.
 */
export function leaveReturn(request: FastifyRequest, reply: FastifyReply): void {
  const address = pageAddress(request);
  if (isCrossSite(request) || address.length > addressMax) reply.clearCookie(cookieNames.return, laxCookieOptions);
  else reply.setCookie(cookieNames.return, address, laxCookieOptions);
}

/** Returns the page that the person sees after signing in: the page where the session ended, or the overview. */
export function takeReturn({ cookies }: FastifyRequest, reply: FastifyReply): string {
  const address = cookies[cookieNames.return];
  if (address === undefined) return '/';
  reply.clearCookie(cookieNames.return, laxCookieOptions);
  return ownAddress.test(address) ? address : '/';
}
