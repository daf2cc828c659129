import { readUnbroken } from '../audit/continuity.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { EventChain } from '../ports/event-chain.js';
import type { EventLog } from '../ports/event-log.js';
import { noEvent } from '../ports/key-store.js';
import { LogBehind, logBehind } from '../vault/log-behind.js';

type Deps = { readonly log: EventLog; readonly chain: EventChain; readonly keys: KeyRing };

/** No event names a key later than this after its creation. */
const namedWithinMs = 3_600_000;
const candidatesMax = 100_000;

/**
 * Destroys keys that were created ahead of time and that no event names, because a process died in between. Destroys
 * only keys that are older than an hour and that a read of the whole log, begun after that hour, has not found.
 */
export async function destroyOrphanKeys({ log, chain, keys }: Deps, now: number): Promise<number> {
  const after = await keys.checkpoint('orphans');
  const made = await keys.made(after, now - namedWithinMs, candidatesMax);
  const last = made.at(-1);
  if (last === undefined) return 0;
  // The right log may name a key that an older copy of the log does not.
  const behind = await logBehind({ log, keys });
  if (behind !== null) throw new LogBehind(behind.head);
  const orphans = new Set(made.map(({ keyId }) => keyId));
  // After an older log was put back, older keys may have a later head of the log than newer keys.
  const position = made.reduce((least, { logHead }) => Math.min(least, logHead), last.logHead);
  // Threat: an attacker that can write to the log removes the event that names a living key.
  await readUnbroken({ log, chain, keys }, position, ({ clear }) => {
    for (const named of [clear['key'], clear['cvc_key']]) if (typeof named === 'string') orphans.delete(named);
  });
  const destroyed = await keys.destroy([...orphans].map((keyId) => ({ keyId, eventId: noEvent })));
  await keys.saveCheckpoint('orphans', last.sequence);
  return destroyed;
}
