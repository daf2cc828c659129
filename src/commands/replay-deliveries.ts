import { StoreUnavailable } from '../ports/store-unavailable.js';
import { stateFrom } from '../ports/webhook-store.js';
import type { Vault } from '../vault/vault.js';

const triesMax = 20;

/**
 * Makes the vault deliver all events since the time `from` (in ms) to a webhook again, including events from before the
 * webhook was created. To do this, moves the webhook's checkpoint back to the start of the log. The delivery job then
 * skips the events before `from`.
 */
export async function replayDeliveries(
  { webhookStore }: Pick<Vault, 'webhookStore'>,
  webhookId: string,
  from: number,
): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const stored = await webhookStore.state(webhookId);
    const state = { ...(stored?.state ?? stateFrom(0)), position: 0, replaysFrom: from };
    // The save fails if a delivery in progress has changed the state since it was read. In that case, retries.
    if (await webhookStore.save(webhookId, stored?.version ?? 0, state, [])) return;
  }
  throw new StoreUnavailable('webhooks', 'race_not_settled');
}
