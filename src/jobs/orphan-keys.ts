import { readUnbroken } from '../audit/continuity.js';
import { namedKeys } from '../events/event-keys.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { EventChain } from '../ports/event-chain.js';
import type { EventLog } from '../ports/event-log.js';
import { noEvent } from '../ports/key-store.js';
import { LogBehind, logBehind } from '../vault/log-behind.js';

type Deps = { readonly log: EventLog; readonly chain: EventChain; readonly keys: KeyRing };

/** If no event names a key within this time after the key was created, no event will ever name it. */
const namedWithinMs = 3_600_000;
const candidatesMaxDefault = 100_000;

/**
 * Destroys orphan keys. These are keys that were created in advance but that no event names, for example because a
 * process crashed. A key is destroyed only if it is more than one hour old, and if no event after its creation names
 * it. The log is read after that hour has passed, so it contains every event that can name the key.
 *
 * Looks at up to `candidatesMax` keys. Returns how many keys it destroyed. `isComplete` is false if more keys may be
 * waiting.
 */
export async function destroyOrphanKeys(
  { log, chain, keys }: Deps,
  now: number,
  candidatesMax = candidatesMaxDefault,
): Promise<{ readonly destroyed: number; readonly isComplete: boolean }> {
  const after = await keys.checkpoint('orphans');
  const made = await keys.made(after, now - namedWithinMs, candidatesMax);
  const last = made.at(-1);
  if (last === undefined) return { destroyed: 0, isComplete: true };
  // Threat: an attacker restores an older copy of the log. If the event that names a key is missing from that copy, the
  // key looks like an orphan.
  const behind = await logBehind({ log, keys });
  if (behind !== null) throw new LogBehind(behind.head);
  const orphans = new Set(made.map(({ keyId }) => keyId));
  // If an older log was ever restored, an older key can have a higher `logHead` than a newer key. The search therefore
  // starts at the lowest `logHead`.
  const position = made.reduce((least, { logHead }) => Math.min(least, logHead), last.logHead);
  // Threat: an attacker who can write to the log removes the event that names a living key. `readUnbroken` detects
  // this.
  await readUnbroken({ log, chain, keys }, position, (event) => {
    for (const keyId of namedKeys(event)) orphans.delete(keyId);
  });
  const destroyed = await keys.destroy([...orphans].map((keyId) => ({ keyId, eventId: noEvent })));
  await keys.saveCheckpoint('orphans', last.sequence);
  return { destroyed, isComplete: made.length < candidatesMax };
}
