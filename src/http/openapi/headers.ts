type HeaderDoc = { readonly type: 'string' | 'integer'; readonly description: string };
export type HeaderDocs = Readonly<Record<string, HeaderDoc>>;

/** Headers of requests by their names in the document. The API key is the security scheme. */
export const requestHeaders = {
  'SERVICE-IDEMPOTENCY-KEY': {
    type: 'string',
    description:
      '1 to 200 characters. A repeat with the same key within 24 hours returns the result of the first request. ' +
      'Idempotency-Key means the same.',
  },
  'SERVICE-TRACE-ID': {
    type: 'string',
    description:
      '1 to 100 of A-Z a-z 0-9 . _ -, with a letter when it has nine digits or more; any other value is ignored.',
  },
  'If-Match': { type: 'string', description: 'Entity tags, or *: 412 if the token has another revision.' },
  'If-None-Match': { type: 'string', description: 'Entity tags, or *: 304 if the token has this revision.' },
} as const satisfies HeaderDocs;

export const responseHeaders = {
  'SERVICE-TRACE-ID': {
    type: 'string',
    description: 'The trace id of the request: the one that it carried, or a generated one.',
  },
  ETag: { type: 'string', description: 'The revision of the token, as a strong entity tag.' },
  Location: { type: 'string', description: 'The path of the created object.' },
  'Retry-After': { type: 'integer', description: 'Seconds to wait before repeating the request.' },
} as const satisfies HeaderDocs;

export type RequestHeader = keyof typeof requestHeaders;
export type ResponseHeader = keyof typeof responseHeaders;

/** Those of a table that are named. */
export function pick<N extends string>(table: Readonly<Record<N, HeaderDoc>>, names: readonly N[]): HeaderDocs {
  return Object.fromEntries(names.map((name) => [name, { ...table[name] }]));
}
