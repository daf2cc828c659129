import { createHash } from 'node:crypto';

/**
 * Returns a hash over the terms of a row in two generations. Each generation hashes its terms under a different key, so
 * the two sets of terms cannot be compared later. This hash is computed while both sets are available, and later proves
 * that they belong together.
 */
export function termsDigest(read: Uint8Array | null, made: Uint8Array | null): Buffer {
  const empty = new Uint8Array(0);
  const hash = createHash('sha256').update(read ?? empty);
  return hash
    .update(`/${read?.length ?? 0}/`)
    .update(made ?? empty)
    .digest();
}
