import { stateFrom } from '../../ports/webhook-store.js';
import type { Vault } from '../../vault/vault.js';
import { changeWebhookState } from './change-webhook-state.js';

export type ReplayStarted = { readonly ok: true } | { readonly ok: false; readonly code: 'in_the_future' };

/**
 * Makes the vault deliver all events since the time `from` (in ms) to a webhook again, including events from before the
 * webhook was created. To do this, moves the webhook's checkpoint back to the start of the log. The delivery job then
 * skips the events before `from`, except those that the webhook has not received yet.
 *
 * Changes nothing if `from` is in the future by the vault's clock, because such a replay would skip every event until
 * then.
 */
export async function replayDeliveries(
  vault: Pick<Vault, 'webhookStore' | 'clock'>,
  webhookId: string,
  from: number,
): Promise<ReplayStarted> {
  if (from > vault.clock.now()) return { ok: false, code: 'in_the_future' };
  await changeWebhookState(vault, webhookId, (before) => ({
    ...(before ?? stateFrom(0)),
    position: 0,
    replaysFrom: from,
    replaysUpTo: Math.max(before?.replaysUpTo ?? 0, before?.position ?? 0),
  }));
  return { ok: true };
}
