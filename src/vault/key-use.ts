import type { Directory } from '../ports/directory.js';

const dayMs = 86_400_000;

/** The day of an instant (ms), counted from 1970-01-01 in UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / dayMs);
}

/**
 * Notes on which day a key was last used: one write a key and day, and no request waits for it. It is a note on the row
 * and not an event: it is for the person who looks for keys to revoke, decides nothing, and is not worth an entry in a
 * log that never forgets. A note that is lost is made again with the next look-up of that key.
 */
export function createKeyUse(
  directory: Pick<Directory, 'keyUsedOn' | 'markKeyUsed'>,
): (keyHash: string, now: number) => Promise<void> {
  const writing = new Set<string>();

  return async function noteUse(keyHash, now) {
    if (writing.has(keyHash)) return;
    const usedOn = await directory.keyUsedOn(keyHash);
    const day = dayOf(now);
    if ((usedOn !== null && usedOn >= day) || writing.has(keyHash)) return;
    writing.add(keyHash);
    directory
      .markKeyUsed(keyHash, day)
      .catch(() => undefined)
      .finally(() => writing.delete(keyHash));
  };
}
