import type { ProblemCode } from '../problem-catalogue.js';

/** What every route of a kind may answer: with a key, with a body of its own, with any body at all. */
export function commonProblems(
  { permission, mediaType }: { readonly permission: unknown; readonly mediaType: unknown },
  method: string | readonly string[],
): readonly ProblemCode[] {
  const always = ['malformed_request', 'internal', 'store_unavailable', 'overloaded'] as const;
  const withoutKey = ['too_many_without_key'] as const;
  const withKey = ['rate_limited', 'too_many_bad_keys', 'unauthenticated', 'key_lost'] as const;
  const withPermission = permission === undefined || permission === 'any_key' ? [] : (['permission_missing'] as const);
  const withBody = ['malformed_body', 'unsupported_media_type'] as const;
  return [
    ...always,
    ...(permission === undefined ? withoutKey : withKey),
    ...withPermission,
    ...(mediaType === undefined ? [] : withBody),
    ...(method === 'GET' ? [] : (['body_too_large'] as const)),
  ];
}
