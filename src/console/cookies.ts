import type { CookieSerializeOptions } from '@fastify/cookie';

/**
 * The names of the console's cookies. A browser accepts a `__Host-` cookie only if it is `Secure`, comes from this host
 * and covers all paths. Other hosts and plaintext connections therefore cannot plant such a cookie. Chromium and
 * Firefox accept `Secure` cookies from loopback addresses even over HTTP.
 */
export const cookieNames = {
  session: '__Host-strongroom-session',
  csrf: '__Host-strongroom-csrf',
  theme: '__Host-strongroom-theme',
  flash: '__Host-strongroom-flash',
  signIn: '__Host-strongroom-sign-in',
  return: '__Host-strongroom-return',
} as const;

export const cookieOptions = {
  path: '/',
  httpOnly: true,
  secure: true,
  sameSite: 'strict',
} as const satisfies CookieSerializeOptions;

/**
 * The options for the cookies that a sign-in with the identity provider needs. A browser that returns from a different
 * site sends `Lax` cookies but no `Strict` cookies. These cookies grant no access. One identifies a sign-in, and each
 * sign-in can be completed only once. The other is the page that the person sees after signing in.
 */
export const laxCookieOptions = { ...cookieOptions, sameSite: 'lax' } as const satisfies CookieSerializeOptions;

/**
 * Returns the value that a CSRF token is bound to: the session token of the browser, or `none` if the browser has no
 * session.
 */
export function sessionOf(cookies: Readonly<Record<string, string | undefined>>): string {
  return cookies[cookieNames.session] ?? 'none';
}

/** The themes that a person can choose. `system` follows the theme of the browser. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export function themeOf(cookies: Readonly<Record<string, string | undefined>>): Theme {
  return themes.find((theme) => theme === cookies[cookieNames.theme]) ?? 'system';
}
