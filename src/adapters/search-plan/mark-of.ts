import { createHash } from 'node:crypto';

/** By which the terms of two generations of rows, under two keys, can be seen to be of one token: made with both at hand. */
export function markOf(read: Uint8Array | null, made: Uint8Array | null): Buffer {
  const empty = new Uint8Array(0);
  const hash = createHash('sha256').update(read ?? empty);
  return hash
    .update(`/${read?.length ?? 0}/`)
    .update(made ?? empty)
    .digest();
}
