import type { CookieSerializeOptions } from '@fastify/cookie';

/**
 * The names of the cookies. A browser accepts a `__Host-` cookie only with `Secure`, from this host and for all paths,
 * so that no other host and no plain connection can plant one. Chromium and Firefox accept `Secure` cookies from
 * loopback over HTTP.
 */
export const cookieNames = {
  session: '__Host-strongroom-session',
  csrf: '__Host-strongroom-csrf',
  theme: '__Host-strongroom-theme',
  flash: '__Host-strongroom-flash',
  signIn: '__Host-strongroom-sign-in',
} as const;

export const cookieOptions = {
  path: '/',
  httpOnly: true,
  secure: true,
  sameSite: 'strict',
} as const satisfies CookieSerializeOptions;

/**
 * The cookie of a sign-in at the identity provider. The browser returns from another site, where it sends no `Strict`
 * cookie; a `Lax` one comes along with this navigation. It opens nothing: it only names a sign-in, which one callback
 * uses up.
 */
export const signInCookieOptions = { ...cookieOptions, sameSite: 'lax' } as const satisfies CookieSerializeOptions;

/** Returns what the token of a form is bound to: the session of the browser, or that it has none. */
export function sessionOf(cookies: Readonly<Record<string, string | undefined>>): string {
  return cookies[cookieNames.session] ?? 'none';
}

/** The looks that a person can choose. `system` follows the browser. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export function themeOf(cookies: Readonly<Record<string, string | undefined>>): Theme {
  return themes.find((theme) => theme === cookies[cookieNames.theme]) ?? 'system';
}
