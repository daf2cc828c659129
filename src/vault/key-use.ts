import type { Directory } from '../ports/directory.js';

const minuteMs = 60_000;

/**
 * Notes the minute in which a key was last used, with one write per key and minute. No request waits for it. It is a note on
 * the row and not an event: it helps an operator find unused keys, no access depends on it, and it does not belong in a
 * log that never forgets. If a note is lost, the next look-up of the key writes it again.
 */
export function createKeyUse(
  directory: Pick<Directory, 'keyUsedIn' | 'markKeyUsed'>,
): (keyHash: string, now: number) => Promise<void> {
  const writing = new Set<string>();

  return async function noteUse(keyHash, now) {
    if (writing.has(keyHash)) return;
    const usedIn = await directory.keyUsedIn(keyHash);
    const minute = Math.floor(now / minuteMs);
    if ((usedIn !== null && usedIn >= minute) || writing.has(keyHash)) return;
    writing.add(keyHash);
    directory
      .markKeyUsed(keyHash, minute)
      .catch(() => undefined)
      .finally(() => writing.delete(keyHash));
  };
}
