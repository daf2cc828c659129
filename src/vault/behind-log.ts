import type { EventLog } from '../ports/event-log.js';
import type { TokenView } from '../views/token-view.js';

/**
 * Returns true if the log contains a newer event of the token than its row. Call it if the key of the row is destroyed.
 * Threat: an attacker who can write the rows restores the row of a deleted token. Its key is then erased and not lost.
 */
export async function isBehindLog(
  { log }: { readonly log: Pick<EventLog, 'readNewest'> },
  { stream, state }: TokenView,
): Promise<boolean> {
  const [newest] = await log.readNewest(stream, null, 1);
  return newest !== undefined && newest.revision > state.revision;
}
