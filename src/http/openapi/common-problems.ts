import type { ProblemCode } from '../problem-catalogue.js';
import { isHealthRoute } from '../require-tls-proxy.js';

/** Returns the problems that every route of a kind may respond with: with a key, with a body of its own, with any body at all. */
export function commonProblems(
  { permission, mediaType, url }: { readonly permission: unknown; readonly mediaType: unknown; readonly url: string },
  method: string | readonly string[],
): readonly ProblemCode[] {
  const always = ['malformed_request', 'internal', 'store_unavailable', 'overloaded'] as const;
  const overTls = isHealthRoute(url) ? [] : (['tls_required'] as const);
  const withoutKey = ['too_many_without_key'] as const;
  const withKey = ['rate_limited', 'too_many_bad_keys', 'unauthenticated', 'key_lost', 'row_forged'] as const;
  const withPermission = permission === undefined || permission === 'any_key' ? [] : (['permission_missing'] as const);
  const withBody = ['malformed_body', 'unsupported_media_type'] as const;
  return [
    ...always,
    ...overTls,
    ...(permission === undefined ? withoutKey : withKey),
    ...withPermission,
    ...(mediaType === undefined ? [] : withBody),
    ...(method === 'GET' ? [] : (['body_too_large'] as const)),
  ];
}
