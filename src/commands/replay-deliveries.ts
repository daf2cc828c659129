import { StoreUnavailable } from '../ports/store-unavailable.js';
import { stateFrom } from '../ports/webhook-store.js';
import type { Vault } from '../vault/vault.js';

export type ReplayStarted = { readonly ok: true } | { readonly ok: false; readonly code: 'in_the_future' };

const triesMax = 20;

/**
 * Makes the vault deliver all events since the time `from` (in ms) to a webhook again, including events from before the
 * webhook was created. To do this, moves the webhook's checkpoint back to the start of the log. The delivery job then
 * skips the events before `from`.
 *
 * Changes nothing if `from` is in the future by the vault's clock, because such a replay would skip every event until
 * then.
 */
export async function replayDeliveries(
  { webhookStore, clock }: Pick<Vault, 'webhookStore' | 'clock'>,
  webhookId: string,
  from: number,
): Promise<ReplayStarted> {
  if (from > clock.now()) return { ok: false, code: 'in_the_future' };
  for (let tries = 0; tries < triesMax; tries += 1) {
    const stored = await webhookStore.state(webhookId);
    const state = { ...(stored?.state ?? stateFrom(0)), position: 0, replaysFrom: from };
    // The save fails if a delivery in progress has changed the state since it was read. In that case, retries.
    if (await webhookStore.save(webhookId, stored?.version ?? 0, state, [])) return { ok: true };
  }
  throw new StoreUnavailable('webhooks', 'race_not_settled');
}
