import { isIP } from 'node:net';
import { z } from 'zod';

export const path = z
  .string({ error: 'must be a path' })
  .min(1, { error: 'must not be empty' })
  .refine((text) => !text.includes('\0'), { error: 'must be a path' });
export const optionalPath = path.nullable();
export const flag = z.boolean({ error: 'must be true or false' });

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

const portError = 'must be a whole number from 0 to 65535, or off';
const portNumber = z.int({ error: portError }).min(0, { error: portError }).max(65_535, { error: portError });
/** A port to listen on, or `off` for no listener. Port 0 means any free port. */
export const portOrOff = z.union([portNumber, z.literal('off')], { error: portError });

const ratioError = 'must be a number from 0 to 1';
export const ratio = z.number({ error: ratioError }).min(0, { error: ratioError }).max(1, { error: ratioError });

/**
 * The address of an OpenTelemetry collector, or null. The address contains no username or password, because the
 * exporter reads them from a separate environment variable.
 */
export const collectorUrl = z
  .string({ error: 'must be text' })
  .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), {
    error: 'must be an address that begins with http:// or https://',
  })
  .refine((text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''), {
    error: 'must not contain a user or password; set OTEL_EXPORTER_OTLP_HEADERS to send credentials',
  })
  .nullable();

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

const commandError = 'must be a JSON array of strings, the program first';
const commandPart = z.string({ error: commandError }).refine((text) => !text.includes('\0'), { error: commandError });
export const command = z.tuple([commandPart.min(1, { error: commandError })], commandPart, { error: commandError });

const pathOrCommandError = 'must be a path, or a JSON array of strings, the program first';
/** Either the path of a file, or a program with its arguments. */
export const pathOrCommand = z.union([path, command], { error: pathOrCommandError });

/**
 * Returns the schema for a store's address. The address may be null. `storeUrls` checks TLS and passwords separately.
 */
export function storeUrl(...protocols: readonly string[]) {
  const error = `must be an address that begins with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`;
  return z
    .string({ error })
    .refine(
      (text) => protocols.some((protocol) => text.startsWith(`${protocol}://`) && text.length > protocol.length + 3),
      {
        error,
      },
    )
    .nullable();
}

export const databaseName = z
  .string({ error: 'must be a name' })
  .regex(/^[A-Za-z0-9_-]{1,50}$/, { error: 'must be 1 to 50 letters, digits, _ and -' });

/** The syntax of a header name: a `token` as defined in RFC 9110, section 5.6.2. */
const tokenPattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Header names that HTTP, proxies or browsers already use. */
const reserved =
  /^(accept(-.+)?|access-control-.+|age|allow|alt-svc|cache-control|connection|content-.+|cookie2?|date|etag|expect|forwarded|from|host|http2-settings|if-.+|keep-alive|last-modified|link|location|max-forwards|origin|pragma|prefer|priority|proxy-.+|range|referer|retry-after|sec-.+|server|set-cookie2?|te|trailer|transfer-encoding|upgrade(-.+)?|user-agent|vary|via|warning|www-authenticate|x-forwarded-.+|x-real-ip)$/;

/**
 * Returns a schema for a list of aliases for one of our headers. The schema converts the names to lower case, as
 * Node.js does, and removes duplicates.
 */
function headerNames(isReserved: (name: string) => boolean, why: string) {
  const message = `must be a header name of letters, digits and hyphens that does not already have a meaning${why}`;
  const name = z
    .string({ error: message })
    .regex(tokenPattern, { error: message })
    .toLowerCase()
    .refine((value) => !isReserved(value), { error: message });
  return z.array(name, { error: 'must be a list of header names' }).transform((names) => [...new Set(names)]);
}

/**
 * Names of headers that contain an API key. `Authorization` is allowed, because this header is meant for credentials.
 */
export const keyHeaderNames = headerNames((name) => reserved.test(name), '');

/**
 * Names of headers whose values the vault stores or logs. `Authorization` is not allowed, because it contains
 * credentials.
 */
export const plainHeaderNames = headerNames(
  (name) => reserved.test(name) || name === 'authorization',
  ', and not authorization',
);

const namePattern = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

/** An address or a host name to listen on. */
export const host = z.string({ error: 'must be text' }).refine((text) => isIP(text) !== 0 || namePattern.test(text), {
  error: 'must be an IP address without brackets, or a host name',
});

const hostNameError = 'must be a list of host names or IP addresses, without a port';

/** Names in a `Host` header, in lower case. An IPv6 address is in brackets, as in that header. */
export const hostNames = z.array(
  z
    .string({ error: hostNameError })
    .toLowerCase()
    .refine((text) => namePattern.test(text) || isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0, { error: hostNameError })
    .transform((text) => (isIP(text) === 6 ? `[${text}]` : text)),
  { error: hostNameError },
);

/**
 * Returns true if only this machine can reach the address. Returns false for an address in an unusual notation, because
 * the vault assumes that others can reach such an address. An IPv6 address may be in brackets, as in a URL.
 */
export function isLoopback(text: string): boolean {
  const host = text.replace(/^\[(.*:.*)\]$/, '$1');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * An origin exactly as browsers send it. `*` is not allowed, because the operator must name the pages that may call the
 * vault.
 */
export const origin = z.string({ error: 'must be text' }).refine(isOrigin, {
  error: 'must be an origin as browsers send it, such as https://app.example.com, without a path',
});

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}

/**
 * A proxy's IP address, or a network in the form of an address and a prefix length. Threat: an attacker forges the
 * address of its requests. If every address counted as a trusted proxy, any caller could forge its address.
 */
export const proxyAddress = z
  .string({ error: 'must be text' })
  .refine(isProxyAddress, { error: 'must be an IP address or a network such as 10.0.0.0/8, and not every address' });

function isProxyAddress(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

const issuerError = 'must be an address that begins with https:// (http:// only on loopback), without user, query or #';

/**
 * The URL of an identity provider's issuer. Threat: an attacker on the network changes the issuer's responses and signs
 * in as any person. Plain HTTP would allow this.
 */
export const issuerUrl = z.string({ error: issuerError }).refine(isSafeUrl, { error: issuerError });

function isSafeUrl(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isPlain = username === '' && password === '' && !/[?#\s]/.test(text);
  return isPlain && (protocol === 'https:' || isLoopback(hostname));
}

/** An origin that browsers reach either over TLS or on loopback. */
export const loopbackOrHttps = z.string({ error: 'must be text' }).refine((text) => isOrigin(text) && isSafeUrl(text), {
  error:
    'must be an origin such as https://console.vault.example, in lower case and without a path; http:// only on ' +
    'loopback',
});

const shortTextError = 'must be text of 1 to 500 characters';
export const shortText = z.string({ error: shortTextError }).min(1, { error: shortTextError }).max(500, {
  error: shortTextError,
});

const scopeError = 'must be a list of scopes with openid among them';
export const scopes = z
  .array(z.string({ error: scopeError }).regex(/^[\x21\x23-\x5B\x5D-\x7E]{1,200}$/, { error: scopeError }), {
    error: scopeError,
  })
  .refine((list) => list.includes('openid'), { error: scopeError });

const idError = 'tenant, private and management must be ids';
const id = z.string({ error: idError }).regex(/^[A-Za-z0-9_-]{1,100}$/, { error: idError });

/** An ordered list of rules. Each rule grants access to the members of one of the identity provider's groups. */
export const groupRules = z.array(
  z
    .strictObject(
      {
        group: z.string({ error: 'group must be text' }).min(1, { error: 'group must not be empty' }),
        tenant: id.optional(),
        private: id.optional(),
        management: id.optional(),
        operator: z.boolean({ error: 'operator must be true or false' }).optional(),
      },
      { error: 'must be an object of group, tenant, private, management and operator only' },
    )
    .refine(({ private: ofPrivate, management, operator }) => ofPrivate ?? management ?? operator, {
      error: 'opens nothing; add private, management or operator',
    })
    .refine((rule) => (rule.tenant === undefined) === (rule.private === undefined && rule.management === undefined), {
      error: 'tenant belongs to private and management; set both the tenant and an application, or neither',
    }),
  { error: 'must be an array of objects, each with a group' },
);
