import { createHash } from 'node:crypto';

/**
 * Returns a hash over a row's terms in two generations. The terms in each generation are hashed under a different key.
 * We compute this hash while the terms for both generations are available, so that it can later prove that the two sets
 * of terms belong together.
 */
export function termsDigest(read: Uint8Array | null, made: Uint8Array | null): Buffer {
  const empty = new Uint8Array(0);
  const hash = createHash('sha256').update(read ?? empty);
  return hash
    .update(`/${read?.length ?? 0}/`)
    .update(made ?? empty)
    .digest();
}
