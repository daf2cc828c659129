import type { KeyRing } from '../../keys/key-ring.js';
import type { EventLog } from '../../ports/event-log.js';
import type { RebuildStatus } from '../../ports/projections.js';
import type { ServiceState } from '../../ports/service-state.js';

/**
 * Returns the service's state. The state depends on whether `vault.db` and `keys.db` can be read and whether the last
 * write to the access log succeeded. The vault writes rows and the directory in the same transaction as their events,
 * so only the shredder can lag behind the log. `damage` lists the damage that was found.
 */
export async function embeddedState(
  { log, keys }: { readonly log: EventLog; readonly keys: KeyRing },
  damage: readonly string[],
  accessLogIsWritable: boolean,
  rebuild: RebuildStatus | null,
  notices: readonly string[],
  backupMadeAt: number | null,
): Promise<ServiceState> {
  const head = await orNull(log.head());
  const shredded = await orNull(keys.checkpoint('shredder'));
  const down = [...(head === null ? ['vault.db'] : []), ...(shredded === null ? ['keys.db'] : [])];
  const accessLog = { name: 'access log', state: accessLogIsWritable ? 'up' : 'down' } as const;
  const gap = head === null || shredded === null ? null : Math.max(0, head - shredded);
  return {
    reasons: [
      ...down.map((name) => `${name} is unavailable`),
      ...damage,
      ...(accessLogIsWritable ? [] : ['the access log cannot be written']),
    ],
    notices,
    stores: [
      ...['vault.db', 'keys.db'].map((name) => ({ name, state: down.includes(name) ? 'down' : 'up' }) as const),
      accessLog,
    ],
    projections: [
      { name: 'tokens', gap: head === null ? null : 0 },
      { name: 'directory', gap: head === null ? null : 0 },
      { name: 'shredder', gap },
    ],
    rebuild,
    backupMadeAt,
  };
}

async function orNull(asked: Promise<number>): Promise<number | null> {
  try {
    return await asked;
  } catch {
    return null;
  }
}
