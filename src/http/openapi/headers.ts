type HeaderDoc = { readonly type: 'string' | 'integer'; readonly description: string };
export type HeaderDocs = Readonly<Record<string, HeaderDoc>>;

/**
 * Request headers, keyed by their names in the OpenAPI document. The API key is not included, because it is documented
 * as a security scheme.
 */
export const requestHeaders = {
  'SERVICE-IDEMPOTENCY-KEY': {
    type: 'string',
    description:
      '1 to 200 characters. A retry with the same key within 24 hours returns the result of the first request. ' +
      'The header Idempotency-Key has the same effect.',
  },
  'SERVICE-TRACE-ID': {
    type: 'string',
    description:
      'A name for the request: 1 to 100 of `A-Z a-z 0-9 . _ -`. Any other value is ignored, as is one that may ' +
      'contain a card number.',
  },
  'SERVICE-PERSON': {
    type: 'string',
    description:
      'The person for whom the application acts, for the access log: 1 to 200 characters, percent-encoded as UTF-8.',
  },
  'SERVICE-REASON': {
    type: 'string',
    description: 'The reason for the request, for the access log: 1 to 500 characters, percent-encoded as UTF-8.',
  },
  'If-Match': { type: 'string', description: 'Entity tags, or `*`. Returns 412 if the token has another revision.' },
  'If-None-Match': { type: 'string', description: 'Entity tags, or `*`. Returns 304 if the token has this revision.' },
} as const satisfies HeaderDocs;

export const responseHeaders = {
  'SERVICE-TRACE-ID': {
    type: 'string',
    description: 'The trace id of the request: the one that it sent, or a generated one.',
  },
  ETag: { type: 'string', description: 'The revision of the token, as a strong entity tag.' },
  Location: { type: 'string', description: 'The path of the created object.' },
  'Retry-After': { type: 'integer', description: 'How many seconds to wait before retrying the request.' },
  'WWW-Authenticate': { type: 'string', description: 'How to authenticate (RFC 9110, section 11.6.1).' },
} as const satisfies HeaderDocs;

export type RequestHeader = keyof typeof requestHeaders;
export type ResponseHeader = keyof typeof responseHeaders;

/** Returns the headers in `names` from a table. */
export function pick<N extends string>(table: Readonly<Record<N, HeaderDoc>>, names: readonly N[]): HeaderDocs {
  return Object.fromEntries(names.map((name) => [name, { ...table[name] }]));
}
