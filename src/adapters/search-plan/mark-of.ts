import { createHash } from 'node:crypto';

/**
 * Returns a hash over the terms of a row in both generations, which are hashed under two keys. It is computed while
 * both are at hand, and later shows that the two belong together.
 */
export function termsDigest(read: Uint8Array | null, made: Uint8Array | null): Buffer {
  const empty = new Uint8Array(0);
  const hash = createHash('sha256').update(read ?? empty);
  return hash
    .update(`/${read?.length ?? 0}/`)
    .update(made ?? empty)
    .digest();
}
