import { createHash } from 'node:crypto';

/**
 * Returns a hash over a row's terms in both generations, which are hashed under different keys. It is computed while
 * both sets of terms are available, and later proves that they belong together.
 */
export function termsDigest(read: Uint8Array | null, made: Uint8Array | null): Buffer {
  const empty = new Uint8Array(0);
  const hash = createHash('sha256').update(read ?? empty);
  return hash
    .update(`/${read?.length ?? 0}/`)
    .update(made ?? empty)
    .digest();
}
