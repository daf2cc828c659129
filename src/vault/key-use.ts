import type { Directory } from '../ports/directory.js';

const dayMs = 86_400_000;

/** Returns the day of an instant (ms), counted from 1970-01-01 in UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / dayMs);
}

/**
 * Notes the day on which a key was last used, with one write per key and day. No request waits for it. It is a note on
 * the row and not an event: it helps an operator find unused keys, no access depends on it, and it does not belong in a
 * log that never forgets. If a note is lost, the next look-up of the key writes it again.
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
