import type { EventOrigin } from '../../commands/event-origin.js';
import type { Vault } from '../../commands/vault.js';

/** What the command line causes, it causes as the operator. */
export function operatorOrigin({ clock }: Vault): EventOrigin {
  return { actorId: 'operator', at: clock.now(), traceId: null, cmd: null };
}
