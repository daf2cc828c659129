import { z } from 'zod';

/** A token of RFC 9110, section 5.6.2. */
const tokenPattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Names that the protocol, proxies or browsers give a meaning of their own. */
const reserved =
  /^(accept(-.+)?|access-control-.+|age|allow|alt-svc|cache-control|connection|content-.+|cookie2?|date|etag|expect|forwarded|from|host|http2-settings|if-.+|keep-alive|last-modified|link|location|max-forwards|origin|pragma|prefer|priority|proxy-.+|range|referer|retry-after|sec-.+|server|set-cookie2?|te|trailer|transfer-encoding|upgrade(-.+)?|user-agent|vary|via|warning|www-authenticate|x-forwarded-.+|x-real-ip)$/;

/** Further names of a header of ours, in lower case as Node.js gives them, each once. */
function headerNames(isReserved: (name: string) => boolean, why: string) {
  const message = `must be a header name of letters, digits and hyphens that has no meaning of its own${why}`;
  const name = z
    .string({ error: message })
    .regex(tokenPattern, { error: message })
    .toLowerCase()
    .refine((value) => !isReserved(value), { error: message });
  return z.array(name, { error: 'must be a list of header names' }).transform((names) => [...new Set(names)]);
}

/** `Authorization` may carry the key as it is: carrying credentials is what it is for. */
export const keyHeaderNames = headerNames((name) => reserved.test(name), '');

/** For names whose value is stored or logged: `Authorization` would put a credential there. */
export const plainHeaderNames = headerNames(
  (name) => reserved.test(name) || name === 'authorization',
  ', and not authorization',
);
