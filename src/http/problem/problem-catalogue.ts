import type { RejectionCode } from '../../vault/result.js';

/**
 * One kind of problem, with its status and the text on its error page: what happened, and what to do. Together, these
 * two texts are the detail of a response.
 */
export type ProblemKind = {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly advice: string;
};

export type ProblemCode =
  | RejectionCode
  | 'malformed_body'
  | 'malformed_request'
  | 'unauthenticated'
  | 'permission_missing'
  | 'tls_required'
  | 'not_found'
  | 'method_not_allowed'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'too_many_bad_keys'
  | 'too_many_without_key'
  | 'overloaded'
  | 'store_unavailable'
  | 'key_lost'
  | 'row_forged'
  | 'internal';

/**
 * The table of all problem codes with their statuses and texts (docs/contract.md, "Errors" and "Status codes"). No
 * other table contains this information.
 */
export const problemCatalogue: Readonly<Record<ProblemCode, ProblemKind>> = {
  webhook_not_found: {
    status: 404,
    title: 'No such webhook',
    detail: 'The tenant has no webhook with this id.',
    advice: 'Use the id of an existing webhook; GET /webhooks lists them.',
  },
  too_many_webhooks: {
    status: 409,
    title: 'Too many webhooks',
    detail: 'The tenant already has ten webhooks.',
    advice: 'Delete a webhook that is no longer needed, or add event types to an existing webhook.',
  },
  validation_failed: {
    status: 400,
    title: 'The request is not valid',
    detail: 'One or more fields are not valid; `errors` lists them.',
    advice: 'Correct the fields that `errors` lists and send the request again. Nothing was stored.',
  },
  malformed_body: {
    status: 400,
    title: 'The body is not acceptable JSON',
    detail: 'The body is not acceptable JSON.',
    advice:
      'Send well-formed, uncompressed JSON in UTF-8, at most 64 levels deep; send numbers beyond double precision ' +
      'as strings.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is malformed',
    detail: 'The URL or the HTTP message is malformed or too long.',
    advice:
      'Percent-encode ids in paths and send a complete HTTP/1.1 request, with at most 16 KiB for the URL and the ' +
      'headers, and at most 1,000 headers.',
  },
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    detail: 'A valid API key is required in the header SERVICE-API-KEY.',
    advice: 'Send the key of an existing application. The key must not be revoked or expired.',
  },
  tls_required: {
    status: 403,
    title: 'The request did not come over TLS',
    detail: 'This service accepts requests only from a trusted proxy that received them over TLS.',
    advice:
      'Connect to the proxy over https. Operators must list the proxy in http.trusted_proxies and make it set ' +
      'X-Forwarded-Proto. Replace any API key that was sent in plaintext.',
  },
  permission_missing: {
    status: 403,
    title: 'Permission missing',
    detail: 'The application does not hold the permission for this operation.',
    advice: 'Use the key of an application that holds the permission, or have the permission granted.',
  },
  forbidden: {
    status: 403,
    title: 'No access rule allows this',
    detail: 'No access rule of the application allows this operation in the containers concerned.',
    advice:
      'Use an application with a rule for every container concerned. An application may not widen its own access by ' +
      'moving a token.',
  },
  reveal_required: {
    status: 403,
    title: 'This change requires reveal',
    detail:
      'Only a caller that may see this token in plaintext may change mask, search_indexes or ' +
      'fingerprint_expression. The same applies to a request with deduplication that changes only some of the ' +
      'values that the fingerprint is computed from.',
    advice:
      'Use an application whose rule for this token has the transform reveal, or that holds token:use. With ' +
      'deduplication, send every value that the fingerprint is computed from.',
  },
  exceeds_own_permissions: {
    status: 403,
    title: 'More permissions than the caller holds',
    detail: 'The application concerned has, or would get, a management permission that the caller does not hold.',
    advice: 'Use an application that holds every management permission concerned, or request fewer permissions.',
  },
  token_not_found: {
    status: 404,
    title: 'No such token',
    detail: 'There is no such token, or it was deleted or has expired.',
    advice: 'Check the id and the tenant of the key. A deleted token cannot be brought back.',
  },
  application_not_found: {
    status: 404,
    title: 'No such application',
    detail: 'There is no such application, or it was deleted.',
    advice: 'Check the id and the tenant of the key.',
  },
  application_key_not_found: {
    status: 404,
    title: 'No such key',
    detail: 'The application has no such key, or it was revoked.',
    advice: 'List the keys of the application to find their ids.',
  },
  tenant_not_found: {
    status: 404,
    title: 'No such tenant',
    detail: 'There is no such tenant, or it was deleted.',
    advice: 'List the tenants with `strongroom tenants list`.',
  },
  not_found: {
    status: 404,
    title: 'No such path',
    detail: 'Nothing is served at this path; /docs lists all paths.',
    advice: 'Check the path.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'The path does not support this method. The header Allow lists the supported methods.',
    advice: 'Use a method that the header Allow lists; /docs describes each of them.',
  },
  idempotent_result_gone: {
    status: 404,
    title: 'The result of the first request is gone',
    detail: 'The result of the first request with this idempotency key was deleted or revoked, or has expired.',
    advice: 'To repeat the operation, use a new idempotency key.',
  },
  id_in_use: {
    status: 409,
    title: 'The id is in use',
    detail: 'Another token of the tenant has this id.',
    advice: 'Choose another id, or omit it. After the token is deleted, its id can be used again.',
  },
  last_administrator: {
    status: 409,
    title: 'The last administrator application',
    detail: 'No other application holds application:create and application:update, has a key and never expires.',
    advice: 'First give both permissions to another management application that has a key and does not expire.',
  },
  too_many_keys: {
    status: 409,
    title: 'Too many keys',
    detail: 'An application can have at most 3 live keys.',
    advice: 'Revoke a key that is no longer used, then issue the new one.',
  },
  idempotency_in_flight: {
    status: 409,
    title: 'The first request is still running',
    detail: 'A request with this idempotency key is still running.',
    advice: 'Wait a moment, then retry with the same key.',
  },
  idempotent_shape_differs: {
    status: 409,
    title: 'The retry has a different shape',
    detail:
      'The first request with this idempotency key created a different number of tokens than this body describes.',
    advice: 'Retry with the body of the first request, or use a new idempotency key.',
  },
  precondition_failed: {
    status: 412,
    title: 'The token has another revision',
    detail: 'The revision in If-Match is not the current revision of the token.',
    advice: 'Get the token again, check what changed, and send its ETag unchanged, with the quotes.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    detail: 'The body is larger than 4 MiB.',
    advice: 'A token can be at most 512 KiB. Send several smaller requests.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'The body must be application/json, or application/merge-patch+json for a token update.',
    advice: 'Set the Content-Type header to the media type of the operation.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'The application has sent more requests than its limit allows.',
    advice:
      'Wait for the time in Retry-After, then send requests more slowly. Tokenize and detokenize count as one ' +
      'request for each token.',
  },
  too_many_bad_keys: {
    status: 429,
    title: 'Too many requests without a valid key',
    detail: 'Too many requests without a valid API key have come from this address.',
    advice: 'Correct the key, and wait for the time in Retry-After. Requests with a valid key are not affected.',
  },
  too_many_without_key: {
    status: 429,
    title: 'Too many requests without a key',
    detail:
      'Too many requests for pages that need no key, for unknown paths or with unsupported methods have come from ' +
      'this address.',
    advice:
      'Check the path and the method, and wait for the time in Retry-After. Other requests with a key and /health ' +
      'are not affected.',
  },
  guesses_exhausted: {
    status: 429,
    title: 'Too many guesses',
    detail: 'The application has looked up too many values that it may not read, or too many unknown ids.',
    advice:
      'Wait for the time in Retry-After. Searches by data or fingerprint, deduplication, detokenize and bulk delete ' +
      'may be rejected until then; all other requests still work.',
  },
  deduplication_misses_exhausted: {
    status: 429,
    title: 'Too many deduplication misses',
    detail: 'The application has sent too many requests with deduplication that found no equal token.',
    advice:
      'Wait for the time in Retry-After. Requests without deduplication still work. The limit does not apply to ' +
      'imports or to applications that may read every value in plaintext. rate_limit.deduplication_misses sets ' +
      'the limit.',
  },
  store_unavailable: {
    status: 503,
    title: 'A store is unavailable',
    detail: 'A store that this request needs is currently unavailable.',
    advice:
      'Retry after the time in Retry-After, with the same idempotency key. A delete can be sent again without one.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    detail: 'The service or the tenant has no memory or connection left for this request. Nothing was changed.',
    advice: 'Read the responses to earlier requests, then retry this one after the time in Retry-After.',
  },
  key_lost: {
    status: 500,
    title: 'The key of this token is lost',
    detail: 'The token exists and was not erased, but its key is missing from the key store.',
    advice: 'An operator must restore the key store from a backup; the trace id identifies this request in the logs.',
  },
  row_forged: {
    status: 500,
    title: 'A stored row failed authentication',
    detail:
      'A row that this request reads was changed, replaced or lost outside the vault. The service does not use it.',
    advice:
      'An operator must run `strongroom doctor`, which names the row unless only retries with one idempotency key ' +
      'fail; the trace id identifies this request in the logs.',
  },
  internal: {
    status: 500,
    title: 'Unexpected error',
    detail: 'The service encountered an unexpected error; the trace id identifies this request in the logs.',
    advice: 'Report the trace id to the operator.',
  },
};
