import type { Directory } from '../ports/directory.js';

const minuteMs = 60_000;

/**
 * Records the minute in which a key was last used, so that operators can find unused keys. Writes at most once per key
 * per minute. No request waits for this write. If a write is lost, the next look-up of the key repeats it. The time is
 * stored in the row, not in an event: no access decision depends on it, and events are never removed from the log.
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
